/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork that stands still, so that somebody else can search its memory for blocks that nothing points to. The program goes
 * on; it has been stopped for as long as a fork takes.
 */
#ifndef TPROF_HOOKS_FREEZE_H
#define TPROF_HOOKS_FREEZE_H

#include "core/base.h"

/*
 * Makes it; header.snapshot_pid says which process it is, or snapshot_error why there is none. It ends when it is killed, or
 * after two minutes. One thread at a time.
 */
TP_SLOW void tp_freeze(void);

/* Reaps the last one if it has ended. A load and a branch where there was none. */
void tp_freeze_reap(void);

/* At the process's end (TPROF_LEAKCHECK=exit): makes one, has tprof-analyze search it, and waits until that is done. */
TP_SLOW void tp_freeze_check(void);

#endif
