/* SPDX-License-Identifier: Apache-2.0 */
#include "core/usage.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "core/sys.h"

#include <time.h>

#define GAP_NS 50000u /* from one record to the next at least */
#define SHARE 100     /* and so many times what it costs: the kernel goes through all threads */

static uint64_t last;		/* ticks, of whichever thread */
static uint64_t cost, previous; /* ticks that the last two took */

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

bool tp_usage_read(struct rusage *all)
{
	*all = (struct rusage){ 0 };
	return tp_syscall(SYS_getrusage, RUSAGE_SELF, all, 0, 0) == 0;
}

/* Whoever was interrupted took longer: the lesser of two. */
static uint64_t gap(void)
{
	uint64_t one = tp_load(&cost), other = tp_load(&previous);
	uint64_t ticks = (one < other ? one : other) * SHARE, least = tp_clock_ticks(GAP_NS);

	return ticks > least ? ticks : least;
}

static bool is_due(uint64_t ticks)
{
	/* In a pause only what ends something is recorded. */
	return tp_load(&tp_state.mode) == TP_MODE_ON && ticks > tp_load(&last) && ticks - tp_load(&last) >= gap();
}

static void put(struct tp_thread *thread, uint64_t ticks, const struct rusage *all, const struct timespec *own)
{
	uint8_t *p = thread->at;

	p[0] = (uint8_t)(TPROF_EVENT_USAGE << 2);
	p = tp_put_uvarint(p + 2, tp_emit_time(thread, ticks));
	p = tp_put_uvarint(p, (uint64_t)all->ru_minflt);
	p = tp_put_uvarint(p, (uint64_t)all->ru_majflt);
	p = tp_put_uvarint(p, (uint64_t)all->ru_nvcsw);
	p = tp_put_uvarint(p, (uint64_t)all->ru_nivcsw);
	p = tp_put_uvarint(p, (microseconds(&all->ru_utime) + microseconds(&all->ru_stime)) * 1000);
	p = tp_put_uvarint(p, (uint64_t)own->tv_sec * 1000000000 + (uint64_t)own->tv_nsec);
	tp_put_length(thread->at + 1, p);
	tp_emit_end(thread, p);
}

uint64_t tp_usage_emit_read(struct tp_thread *thread, uint64_t ticks, const struct rusage *all)
{
	struct timespec own = { 0 };

	if (!is_due(ticks) || tp_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &own, 0, 0) != 0 ||
	    !tp_emit_room(thread))
		return ticks;
	tp_store(&last, ticks);
	put(thread, ticks, all, &own);
	return tp_clock_before();
}

uint64_t tp_usage_emit(struct tp_thread *thread, uint64_t ticks)
{
	struct rusage all;
	uint64_t after;

	if (!is_due(ticks) || !tp_usage_read(&all))
		return ticks;
	after = tp_usage_emit_read(thread, ticks, &all);
	if (after > ticks) {
		tp_store(&previous, tp_load(&cost));
		tp_store(&cost, after - ticks);
	}
	thread->event_start = tp_timed_leave_out(thread->event_start, ticks, after);
	return after;
}
