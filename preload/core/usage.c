/* SPDX-License-Identifier: Apache-2.0 */
#include "core/usage.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "core/sys.h"

#include <sys/resource.h>
#include <time.h>

#define GAP_NS 50000u /* from one record to the next: a hundred times what it costs */

static uint64_t last; /* ticks, of whichever thread */

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

uint64_t tp_usage_emit(struct tp_thread *thread, uint64_t ticks)
{
	struct timespec own = { 0 };
	struct rusage all = { 0 };
	uint64_t after;
	uint8_t *p;

	if (tp_load(&tp_state.mode) != TP_MODE_ON) /* in a pause only what ends something is recorded */
		return ticks;
	if (ticks - tp_load(&last) < tp_clock_ticks(GAP_NS) && ticks > tp_load(&last))
		return ticks;
	if (tp_syscall(SYS_getrusage, RUSAGE_SELF, &all, 0, 0) != 0 ||
	    tp_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &own, 0, 0) != 0 || !tp_emit_room(thread))
		return ticks;
	tp_store(&last, ticks);
	p = thread->at;
	p[0] = (uint8_t)(TPROF_EVENT_USAGE << 2);
	p = tp_put_uvarint(p + 2, tp_emit_time(thread, ticks));
	p = tp_put_uvarint(p, (uint64_t)all.ru_minflt);
	p = tp_put_uvarint(p, (uint64_t)all.ru_majflt);
	p = tp_put_uvarint(p, (uint64_t)all.ru_nvcsw);
	p = tp_put_uvarint(p, (uint64_t)all.ru_nivcsw);
	p = tp_put_uvarint(p, (microseconds(&all.ru_utime) + microseconds(&all.ru_stime)) * 1000);
	p = tp_put_uvarint(p, (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec);
	tp_put_length(thread->at + 1, p);
	tp_emit_end(thread, p);
	after = tp_clock_before();
	thread->event_start = tp_timed_leave_out(thread->event_start, ticks, after);
	return after;
}
