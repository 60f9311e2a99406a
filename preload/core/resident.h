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
struct tp_resident {
	uint64_t own, stacks, mapped;
};

/*
 * Counts, unless the last count was so lately that this would cost more than one part in 400 of the time, or another thread
 * is at it: false then. `ticks`: now. Any thread; no lock, no allocation, some system calls.
 */
TP_SLOW bool tp_resident_count(uint64_t ticks, struct tp_resident *resident);

/*
 * The program mapped private anonymous memory, or unmapped something. Ranges of pages; of more than 1024 ranges the rest is
 * not known, and counts as the allocator's. tp_resident_unmap() returns whether anything of it was known.
 */
TP_SLOW void tp_resident_map(uintptr_t low, uintptr_t high);
TP_SLOW bool tp_resident_unmap(uintptr_t low, uintptr_t high);

#endif
