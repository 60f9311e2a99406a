/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of events. The time stamp counter where it is invariant (constant and non-stop), else CLOCK_MONOTONIC.
 */
#ifndef TPROF_CORE_CLOCK_H
#define TPROF_CORE_CLOCK_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_CLOCK_TSC_SHIFT 3 /* header.tick_shift: events need no finer time than some nanoseconds */

extern enum tprof_clock tpc_clock_kind TPC_NEAR; /* set once, by tpc_clock_start() */
extern tpc_shared_u32 tpc_clock_shared
	TPC_NEAR; /* more than one thread has allocated or freed: a block may go from one to another */

void tpc_clock_start(void);
struct tprof_moment tpc_clock_moment(void);
uint64_t tpc_clock_slow(void); /* CLOCK_MONOTONIC, nanoseconds */

/* CPU time of the calling thread: what something cost, not how long it waited for a processor. A system call. */
uint64_t tpc_clock_thread_ns(void);

/* Ticks that about pass in `ns` nanoseconds; exact enough for pauses between samples. */
uint64_t tpc_clock_ticks(uint64_t ns);

/*
 * Now, for what is stamped before the real call. A processor may read the counter early, which is harmless here: it
 * stays before the call's effects.
 */
static inline uint64_t tpc_clock_before(void)
{
	if (tpc_unlikely(tpc_clock_kind != TPROF_CLOCK_TSC))
		return tpc_clock_slow();
	return tpc_arch_counter();
}

/*
 * The counter, read when the loads before it are done, so that the stamp can't precede what the allocator read from another
 * core: the release of the block that it hands out.
 */
static inline uint64_t tpc_clock_counter_ordered(void)
{
	return tpc_arch_counter_ordered();
}

/* Now, for what is stamped after the real call. */
static inline uint64_t tpc_clock_after(void)
{
	return tpc_unlikely(tpc_clock_kind != TPROF_CLOCK_TSC) ? tpc_clock_slow() : tpc_clock_counter_ordered();
}

/* ---- the same where the clock is known to be the counter ---- */

static inline uint64_t tpc_clock_counter(void)
{
	return tpc_arch_counter();
}

/*
 * Is an allocation's stamp held against another thread's? Not as long as one thread alone has allocated or freed: then it may
 * be read early, by what a processor looks ahead. Asked after the real call, as it must be: a thread that freed what this one
 * got said that it is there before it freed (tpc_thread_allocates(), in its first such hook), and loads are seen in order.
 */
static inline bool tpc_clock_is_shared(void)
{
	return tpc_unlikely(tpc_load_acquire(&tpc_clock_shared));
}

#endif
