/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the resident set consists of, as far as the kernel tells at a moderate price: pages of the collector's own
 * tables, of the threads' stacks, and of what the program mapped itself, counted by mincore(). The rest, less the file
 * pages that /proc/self/statm counts, belongs to the allocator.
 */
#ifndef TPROF_CORE_RESIDENT_H
#define TPROF_CORE_RESIDENT_H

#include "core/base.h"

/* Bytes. */
struct tpc_resident {
	uint64_t own, stacks, mapped;
	bool again; /* repeats the last count, as memory stood still */
};

#define TPC_RESIDENT_AGAIN_NS 640000000u /* counted at least this often, however still */

/*
 * Counts. False: the last count was so recent that this one would take more than 1/400 of the time, or another thread
 * is counting. `ticks`: now; `faults`: the process's page faults so far. The last count is repeated if there were
 * almost no faults since then, samples of memory were alike, and nothing was mapped or unmapped. Any thread; no lock,
 * no allocation, some system calls.
 */
TPC_SLOW bool tpc_resident_count(uint64_t ticks, uint64_t faults, struct tpc_resident *resident);

/* How many times the program has mapped or unmapped memory. */
uint64_t tpc_resident_changes(void);

/*
 * The program mapped private anonymous memory, or unmapped memory. Ranges of pages. Beyond 1024 ranges, memory is not
 * known and counts as the allocator's. tpc_resident_unmap() returns whether any of the range was known.
 */
TPC_SLOW void tpc_resident_map(uintptr_t low, uintptr_t high);
TPC_SLOW bool tpc_resident_unmap(uintptr_t low, uintptr_t high);

/*
 * Calls put() for each range of the collector's tables and for each thread's stack, with its resident bytes. False:
 * another thread is counting.
 */
TPC_SLOW bool tpc_resident_ranges(void (*put)(bool stack, uintptr_t low, uintptr_t high, uint64_t bytes));

#endif
