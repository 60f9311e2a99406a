/* SPDX-License-Identifier: Apache-2.0 */
#include "core/usage.h"

#include "core/budget.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "core/sys.h"

#include <time.h>

#define GAP_NS 50000u /* minimum between two records */
#define SHARE 100     /* and at least this many times the cost: the kernel visits all threads */

#define COSTS 8

static tpc_shared_u64 last;	    /* ticks, of any thread */
static tpc_shared_u64 costs[COSTS]; /* ticks that the last records took */
static tpc_shared_u64 next_cost;

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

bool tpc_usage_read(struct rusage *all)
{
	*all = (struct rusage){ 0 };
	return tpc_syscall(SYS_getrusage, RUSAGE_SELF, all, 0, 0) == 0;
}

/*
 * The cost: the least of the last ones, as interruptions only add to them; a busy machine may interrupt several in a
 * row.
 */
static uint64_t gap(void)
{
	uint64_t least = tpc_load(&costs[0]), shortest = tpc_clock_ticks(GAP_NS);

	for (int i = 1; i < COSTS; i++)
		least = tpc_load(&costs[i]) < least ? tpc_load(&costs[i]) : least;
	least *= tpc_budget_part(SHARE);
	return least > shortest ? least : shortest;
}

static bool is_due(uint64_t ticks)
{
	/* In a pause only ends are recorded. */
	return tpc_load(&tpc_state.mode) == TPC_MODE_ON && ticks > tpc_load(&last) && ticks - tpc_load(&last) >= gap();
}

static void put(struct tpc_thread *thread, uint64_t ticks, const struct rusage *all, const struct timespec *own)
{
	uint8_t *p = thread->at;

	p[0] = (uint8_t)(TPROF_EVENT_USAGE << 2);
	p = tpc_put_uvarint(p + 2, tpc_emit_time(thread, ticks));
	p = tpc_put_uvarint(p, (uint64_t)all->ru_minflt);
	p = tpc_put_uvarint(p, (uint64_t)all->ru_majflt);
	p = tpc_put_uvarint(p, (uint64_t)all->ru_nvcsw);
	p = tpc_put_uvarint(p, (uint64_t)all->ru_nivcsw);
	p = tpc_put_uvarint(p, (microseconds(&all->ru_utime) + microseconds(&all->ru_stime)) * 1000);
	p = tpc_put_uvarint(p, (uint64_t)own->tv_sec * 1000000000 + (uint64_t)own->tv_nsec);
	tpc_put_length(thread->at + 1, p);
	tpc_emit_end(thread, p);
}

uint64_t tpc_usage_emit_read(struct tpc_thread *thread, uint64_t ticks, const struct rusage *all)
{
	struct timespec own = { 0 };

	if (!is_due(ticks) || tpc_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &own, 0, 0) != 0 ||
	    !tpc_emit_room(thread))
		return ticks;
	tpc_store(&last, ticks);
	put(thread, ticks, all, &own);
	return tpc_clock_before();
}

uint64_t tpc_usage_emit(struct tpc_thread *thread, uint64_t ticks)
{
	struct rusage all;
	uint64_t after;

	if (!is_due(ticks) || !tpc_usage_read(&all))
		return ticks;
	after = tpc_usage_emit_read(thread, ticks, &all);
	if (after > ticks) {
		tpc_store(&costs[tpc_load(&next_cost) % COSTS], after - ticks);
		tpc_store(&next_cost, tpc_load(&next_cost) + 1);
	}
	thread->event_start = tpc_timed_leave_out(thread->event_start, ticks, after);
	return after;
}
