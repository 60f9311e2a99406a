/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU sampler: each thread has a timer on its own CPU clock, whose signal records where the thread is. The clock
 * stops while the thread waits, so a blocked call is never interrupted.
 */
#ifndef TPROF_HOOKS_SAMPLING_CPU_H
#define TPROF_HOOKS_SAMPLING_CPU_H

#include "core/thread.h"

/* Chooses a signal that the program does not use and installs the handler. Once, at start, when recording is on. */
void tpc_cpu_start(void);

/* Gives the calling thread its timer, instead of that of a dead thread with the same struct. */
void tpc_cpu_attach(struct tpc_thread *thread);

/* Samples in this code count as the collector's own time. Once. */
void tpc_cpu_own_code(const void *code, size_t bytes);

/* Deletes every timer. */
void tpc_cpu_stop(void);

/* The same, and the signal stays ours, as some may be pending: recording has ended, and may begin again. */
void tpc_cpu_rest(void);

/*
 * `tprof attach` and detach, between whose begin and end the calling thread gets none of our signals: they would end a sleep that
 * it was in. All its signals are blocked.
 */
void tpc_cpu_hold(void);
void tpc_cpu_go_on(void);

/* In a forked child: the parent's timers are not inherited. */
void tpc_cpu_forget(void);

#endif
