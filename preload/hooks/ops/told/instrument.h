/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_TOLD_INSTRUMENT_H
#define TPROF_OPS_TOLD_INSTRUMENT_H

#include "core/base.h"

/* Are functions that were built with -finstrument-functions open on the thread, and recorded? */
bool tpc_instrument_any(void);

/* The thread ends: so do they, unwound. Recording (TPC_BUSY_RECORD). */
struct tpc_thread;
void tpc_instrument_leave(struct tpc_thread *thread);

#endif
