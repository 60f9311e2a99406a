/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of events. The time stamp counter where it is invariant (constant and non-stop), else CLOCK_MONOTONIC.
 */
#ifndef TPROF_CORE_CLOCK_H
#define TPROF_CORE_CLOCK_H

#include <tprof/format.h>

#include "core/base.h"

extern enum tprof_clock tp_clock_kind; /* set once, by tp_clock_start() */

void tp_clock_start(void);
struct tprof_moment tp_clock_moment(void);
uint64_t tp_clock_slow(void); /* CLOCK_MONOTONIC, nanoseconds */

/* Ticks that about pass in `ns` nanoseconds; exact enough for pauses between samples. */
uint64_t tp_clock_ticks(uint64_t ns);

/*
 * Now, for what is stamped before the real call. A processor may read the counter early, which is harmless here: it
 * stays before the call's effects.
 */
static inline uint64_t tp_clock_before(void)
{
	uint32_t low, high;

	if (tp_unlikely(tp_clock_kind != TPROF_CLOCK_TSC))
		return tp_clock_slow();
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

/*
 * Now, for what is stamped after the real call. rdtscp waits until the loads before it are done, so the stamp can't
 * precede what the allocator read from another core: the release of the block that it hands out (Intel SDM, RDTSCP).
 */
static inline uint64_t tp_clock_after(void)
{
	uint32_t low, high, processor;

	if (tp_unlikely(tp_clock_kind != TPROF_CLOCK_TSC))
		return tp_clock_slow();
	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor)::"memory");
	return (uint64_t)high << 32 | low;
}

#endif
