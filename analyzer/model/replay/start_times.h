/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the processes of a run began, on one clock. The real-time clock may be set between two starts, and runs on while the
 * machine is suspended. So if a process's parent, or its program before an exec, has a trace too, the time between the two
 * starts is taken from CLOCK_MONOTONIC. Unrelated processes, which may be from other machines, are placed by real time.
 */
#ifndef TPROF_MODEL_REPLAY_START_TIMES_H
#define TPROF_MODEL_REPLAY_START_TIMES_H

#include "trace/trace.h"

/* The start of traces[which] in nanoseconds of CLOCK_REALTIME, as its first ancestor among the traces has it. */
uint64_t tpa_start_of(struct tpa_trace *const *traces, size_t count, size_t which);

/* The time from which the run's time counts: the start of its first process. */
uint64_t tpa_run_start(struct tpa_trace *const *traces, size_t count);

/* The index of the trace of the process that started traces[which], or that it was before an exec; `count`: it is not there. */
size_t tpa_parent_of(struct tpa_trace *const *traces, size_t count, size_t which);

#endif
