/* SPDX-License-Identifier: Apache-2.0 */
#include "core/counters.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/emit.h"
#include "core/perf.h"
#include "core/log.h"
#include "core/state.h"
#include "core/tables.h"
#include "core/text.h"

#include <errno.h>

static struct tpc_perf_event counted[TPC_COUNTERS_MAX];
static uint32_t counted_count;
static bool told; /* missing counters were logged, by this process or its parent */

static void tell_missing(const char *missing)
{
	if (*missing && !told)
		tpc_log("TPROF_COUNTERS: not available here: ", missing);
	told = true;
}

void tpc_counters_start(void)
{
	char missing[256];
	struct tpc_text text = tpc_text_in(missing, sizeof(missing));

	if (!tpc_config.counters.count || tpc_load(&tpc_state.mode) != TPC_MODE_ON)
		return;
	counted_count = 0;
	for (uint32_t i = 0; i < tpc_config.counters.count; i++) {
		struct tpc_perf_event *event = &tpc_config.counters.events[i];
		int error = tpc_perf_try(event);
		uint8_t flags = event->user_only ? TPROF_COUNTER_USER : 0;

		if (!error)
			counted[counted_count++] = *event;
		tpc_table_counter(error ? 0 : counted_count, (uint32_t)error, flags, event->name);
		if (!error)
			continue;
		tpc_text_add(&text, text.length ? ", " : "");
		tpc_text_add(&text, event->name);
		if (error == EACCES || error == EPERM)
			tpc_text_add(&text, " (not permitted)");
	}
	tell_missing(missing);
	if (counted_count && tpc_self)
		tpc_counters_attach(tpc_self);
}

void tpc_counters_attach(struct tpc_thread *thread)
{
	struct tpc_perf_values values;

	tpc_perf_close(&thread->perf); /* those of the dead thread that had this struct before */
	if (!counted_count)
		return;
	if (!tpc_perf_open(&thread->perf, counted, counted_count)) {
		tpc_lost(TPROF_LOST_COUNTERS, 1);
		return;
	}
	if (!tpc_perf_read(&thread->perf, counted, &values))
		values = (struct tpc_perf_values){ 0 };
	thread->counters = values;
}

static void close_inherited(struct tpc_thread *thread)
{
	tpc_perf_close(&thread->perf);
}

void tpc_counters_forget(void)
{
	if (counted_count)
		tpc_threads_each(close_inherited);
	counted_count = 0;
}

uint64_t tpc_counters_emit(struct tpc_thread *thread, uint64_t ticks)
{
	struct tpc_perf_values now;
	uint8_t *p = thread->at;
	uint64_t after;

	if (!tpc_perf_read(&thread->perf, counted, &now)) {
		tpc_perf_close(&thread->perf);
		tpc_lost(TPROF_LOST_COUNTERS, 1);
		return ticks;
	}
	p[0] = TPROF_EVENT_COUNTERS << 2;
	p = tpc_put_uvarint(p + 2, tpc_emit_time(thread, ticks));
	p = tpc_put_uvarint(p, now.idle_ns - thread->counters.idle_ns);
	for (uint32_t i = 0; i < thread->perf.count; i++)
		p = tpc_put_uvarint(p, now.value[i] - thread->counters.value[i]);
	tpc_put_length(thread->at + 1, p);
	tpc_emit_end(thread, p);
	thread->counters = now;
	after = tpc_clock_before();
	thread->event_start = tpc_timed_leave_out(thread->event_start, ticks, after);
	return after;
}
