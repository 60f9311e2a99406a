/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_OPS_TOLD_INSTRUMENT_H
#define TPROF_OPS_TOLD_INSTRUMENT_H

#include "core/base.h"

/* Are functions that were built with -finstrument-functions open on the thread, and recorded? */
bool tp_instrument_any(void);

/* The thread ends: so do they, unwound. Recording (TP_BUSY_RECORD). */
struct tp_thread;
void tp_instrument_leave(struct tp_thread *thread);

#endif
