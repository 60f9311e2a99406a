/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the processes of a run began, on one clock. The real-time clock may be set between two starts, and runs on while the
 * machine is suspended. So if a process's parent, or its program before an exec, has a trace too, the time between the two
 * starts is taken from CLOCK_MONOTONIC. Unrelated processes, which may be from other machines, are placed by real time.
 */
#ifndef TPROF_MODEL_REPLAY_START_TIMES_H
#define TPROF_MODEL_REPLAY_START_TIMES_H

#include "trace/trace.h"

struct tpa_start {
	uint64_t ns; /* of CLOCK_REALTIME, as the process's first ancestor among the traces has it */
	size_t parent; /* index of the trace of the process that started it, or that it was before an exec; count: it is not there */
};

/* The starts of all traces, by their indexes. The caller frees the result. */
struct tpa_start *tpa_starts_find(struct tpa_trace *const *traces, size_t count);

/* The time from which the run's time counts: the start of its first process; UINT64_MAX if there is none. */
uint64_t tpa_starts_first(const struct tpa_start *starts, size_t count);

#endif
