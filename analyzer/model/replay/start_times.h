/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the processes of a run began, on one clock. The real-time clock may be set between two starts, and does not stop for
 * what is suspended; so of a process whose parent, or whose program before an exec, has a trace too, the time between the two
 * starts is CLOCK_MONOTONIC's. Real time joins what is not related: it may be from another machine.
 */
#ifndef TPROF_MODEL_REPLAY_START_TIMES_H
#define TPROF_MODEL_REPLAY_START_TIMES_H

#include "trace/trace.h"

/* Of traces[which]: nanoseconds, as the first of its forebears among the traces has CLOCK_REALTIME. */
uint64_t tpa_start_of(struct tpa_trace *const *traces, size_t count, size_t which);

/* Where the run's time counts from: the start of the first of its processes. */
uint64_t tpa_run_start(struct tpa_trace *const *traces, size_t count);

#endif
