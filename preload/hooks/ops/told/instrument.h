/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_TOLD_INSTRUMENT_H
#define TPROF_OPS_TOLD_INSTRUMENT_H

#include "core/base.h"

/* Does the thread have open, recorded functions that were built with -finstrument-functions? */
bool tpc_instrument_any(void);

/* The thread ends: ends them as unwound. Recording (TPC_BUSY_RECORD). */
struct tpc_thread;
void tpc_instrument_leave(struct tpc_thread *thread);

#endif
