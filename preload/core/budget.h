/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPROF_MAX_OVERHEAD: keeps the cost of recording below a share of the program's CPU time. Recording moves between levels: all
 * allocations, or samples of them by one of two means (hooks/memory/sample.h); all calls of hooked functions, or none. A LEVEL event
 * tells each change.
 *
 * Three quarters of the bound are a credit, which grows with CPU time and is at most that of one second. Events are charged to it. When
 * it is used up, the level goes down; when half of it is there again, up. All allocations are recorded again only if the samples say that
 * the credit will last. So a program that allocates little is recorded completely, and one that allocates a lot is sampled.
 *
 * The level can change when memory is sampled: after events of the heap, and with CPU samples.
 *
 * Two costs are not charged: that of hooks that record nothing, about 5 ns a call, which is not measured while the program runs; and
 * that of work done once for a thread, a chunk or an object.
 */
#ifndef TPROF_CORE_BUDGET_H
#define TPROF_CORE_BUDGET_H

#include "core/config.h"

struct tpc_thread;

#define TPC_BUDGET_MEAN_LOG2 19 /* 512 KiB: the first mean, header.sample_bytes */

static inline bool tpc_budget_is_on(void)
{
	return tpc_config.max_overhead != 0;
}

/* Of something periodic that takes at most 1/`usual` of the time: an eighth of the share, if that is less. */
static inline uint32_t tpc_budget_part(uint32_t usual)
{
	uint32_t part = tpc_budget_is_on() ? 80000 / tpc_config.max_overhead : 0;

	return part > usual ? part : usual;
}

/* Lets calls of hooked functions pass unrecorded, or no longer. Set by hooks/ops/stubs.c; NULL: no function is hooked. */
extern void (*tpc_budget_pass_ops)(bool pass);

/* Once there is a header, in each process: everything is recorded until that costs too much. */
TPC_SLOW void tpc_budget_open(void);

/* Counts an event that was timed (core/timed.h). Any thread. */
TPC_SLOW void tpc_budget_timed(uint64_t ticks);

/* Counts a sampled block that stands for so many allocations (hooks/memory/sample.h). Any thread. */
TPC_SLOW void tpc_budget_stands_for(uint64_t allocations);

/*
 * Counts a sample of memory that took the calling thread so much of its CPU time. Returns how long to wait until the next one, at
 * least `ns`: samples have a quarter of the share.
 */
TPC_SLOW uint64_t tpc_budget_sampled(uint64_t took_ns, uint64_t ns);

/* Counts calls whose record has ended (core/fold.h). Any thread. */
TPC_SLOW void tpc_budget_folded(uint32_t calls);

/* A recorded block can't be remembered: from now on, not all allocations are recorded. Any thread. */
TPC_SLOW void tpc_budget_full(void);

/* Looks at the costs since the last time, and changes the level if need be. One thread at a time, which is recording. */
TPC_SLOW void tpc_budget_look(struct tpc_thread *thread);

#endif
