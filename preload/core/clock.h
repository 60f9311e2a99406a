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
	TPC_NEAR; /* more than one thread has allocated or freed: blocks may pass between threads */

void tpc_clock_start(void);
struct tprof_moment tpc_clock_moment(void);
uint64_t tpc_clock_slow(void); /* CLOCK_MONOTONIC, nanoseconds */

/* CPU time of the calling thread: excludes waiting for a processor. A system call. */
uint64_t tpc_clock_thread_ns(void);

/* About as many ticks as `ns` nanoseconds; accurate enough for intervals between samples. */
uint64_t tpc_clock_ticks(uint64_t ns);

/*
 * The time before the real call. The processor may read the counter early, which is harmless: the stamp is still before the
 * effects of the call.
 */
static inline uint64_t tpc_clock_before(void)
{
	if (tpc_unlikely(tpc_clock_kind != TPROF_CLOCK_TSC))
		return tpc_clock_slow();
	return tpc_arch_counter();
}

/*
 * The counter, read after all earlier loads are complete. So the stamp of an allocation is never earlier than the
 * release of the same block by another core, which the allocator has read.
 */
static inline uint64_t tpc_clock_counter_ordered(void)
{
	return tpc_arch_counter_ordered();
}

/* The time after the real call. */
static inline uint64_t tpc_clock_after(void)
{
	return tpc_unlikely(tpc_clock_kind != TPROF_CLOCK_TSC) ? tpc_clock_slow() : tpc_clock_counter_ordered();
}

/* ---- the same, if the clock is known to be the counter ---- */

static inline uint64_t tpc_clock_counter(void)
{
	return tpc_arch_counter();
}

/*
 * Must the stamp of an allocation be ordered with those of other threads? Not while only one thread has allocated or
 * freed: then the processor may read the counter early. To be asked after the real call: a thread whose freed block was
 * handed out here has called tpc_thread_allocates() before it freed, in its first such hook, and loads are seen in
 * order.
 */
static inline bool tpc_clock_is_shared(void)
{
	return tpc_unlikely(tpc_load_acquire(&tpc_clock_shared));
}

#endif
