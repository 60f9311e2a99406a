/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the resident set is made of, as far as the kernel can be asked at a moderate price: pages of the collector's own tables,
 * of the threads' stacks, and of what the program mapped itself, counted by mincore(). The allocator's memory is what is left
 * when files are taken off too, which /proc/self/statm says.
 */
#ifndef TPROF_CORE_RESIDENT_H
#define TPROF_CORE_RESIDENT_H

#include "core/base.h"

/* Bytes. */
struct tpc_resident {
	uint64_t own, stacks, mapped;
	bool again; /* what the last count said: the process's memory stood still since */
};

#define TPC_RESIDENT_AGAIN_NS 640000000u /* however still: after that long it is counted */

/*
 * Counts, unless the last count was so lately that this would cost more than one part in 400 of the time, or another thread
 * is at it: false then. `ticks`: now; `faults`: the process's page faults so far. Where there were next to none since the last
 * count, samples of memory were alike, and nothing was mapped or unmapped, that one is said again. Any thread; no lock, no
 * allocation, some system calls.
 */
TPC_SLOW bool tpc_resident_count(uint64_t ticks, uint64_t faults, struct tpc_resident *resident);

/* How often the program mapped or unmapped anything so far. */
uint64_t tpc_resident_changes(void);

/*
 * The program mapped private anonymous memory, or unmapped something. Ranges of pages; of more than 1024 ranges the rest is
 * not known, and counts as the allocator's. tpc_resident_unmap() returns whether anything of it was known.
 */
TPC_SLOW void tpc_resident_map(uintptr_t low, uintptr_t high);
TPC_SLOW bool tpc_resident_unmap(uintptr_t low, uintptr_t high);

/*
 * Calls put() for each range of the collector's tables and for each thread's stack, with the bytes of it that are
 * resident. False: another thread is counting.
 */
TPC_SLOW bool tpc_resident_ranges(void (*put)(bool stack, uintptr_t low, uintptr_t high, uint64_t bytes));

#endif
