/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel counts for the process: page faults, context switches, CPU time. Recorded at the end of a step and
 * every 10 ms, with the samples of memory, so that the reason why a step was slow can be seen. Two system calls, half a
 * microsecond.
 */
#ifndef TPROF_CORE_USAGE_H
#define TPROF_CORE_USAGE_H

#include "core/base.h"

#include <sys/resource.h>

struct tpc_thread;

/* Asks the kernel. False: it did not answer. */
bool tpc_usage_read(struct rusage *all);

/* Page faults of the process so far. */
static inline uint64_t tpc_usage_faults(const struct rusage *all)
{
	return (uint64_t)all->ru_minflt + (uint64_t)all->ru_majflt;
}

/*
 * Writes a USAGE record if the last one is older than a hundred times the cost of one, at least some 50 microseconds;
 * so some short steps have none. Returns the time after it, at which the step ends: the reader sees how long this took.
 */
TPC_SLOW uint64_t tpc_usage_emit(struct tpc_thread *thread, uint64_t ticks);

/* The same with what was just read. */
TPC_SLOW uint64_t tpc_usage_emit_read(struct tpc_thread *thread, uint64_t ticks, const struct rusage *all);

#endif
