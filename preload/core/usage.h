/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel counts of the process: page faults, switches, CPU time. Recorded where a step ends and each 10 ms, beside
 * the samples of memory, so that a step that took long can be told from the others. Two system calls, half a microsecond.
 */
#ifndef TPROF_CORE_USAGE_H
#define TPROF_CORE_USAGE_H

#include "core/base.h"

#include <sys/resource.h>

struct tpc_thread;

/* Asks the kernel. False: it does not tell. */
bool tpc_usage_read(struct rusage *all);

/* Page faults of this process by then. */
static inline uint64_t tpc_usage_faults(const struct rusage *all)
{
	return (uint64_t)all->ru_minflt + (uint64_t)all->ru_majflt;
}

/*
 * A USAGE record, if the last one is older than a hundred times what one costs, some 50 microseconds at least: of shorter
 * steps some have none. Returns the time now, by which the step ends: the reader sees what this took.
 */
TPC_SLOW uint64_t tpc_usage_emit(struct tpc_thread *thread, uint64_t ticks);

/* The same, of what was read just before. */
TPC_SLOW uint64_t tpc_usage_emit_read(struct tpc_thread *thread, uint64_t ticks, const struct rusage *all);

#endif
