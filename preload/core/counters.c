/* SPDX-License-Identifier: Apache-2.0 */
#include "core/counters.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/perf.h"
#include "core/log.h"
#include "core/state.h"
#include "core/tables.h"
#include "core/text.h"

#include <errno.h>

static struct tp_perf_event wanted[TP_COUNTERS_MAX], counted[TP_COUNTERS_MAX];
static uint32_t wanted_count, counted_count;
static bool told; /* what is missing was said, by this process or its parent */

bool tp_counters_choose(const char *list)
{
	wanted_count = 0;
	while (*list) {
		size_t length = strcspn(list, ",");

		if (wanted_count == TP_COUNTERS_MAX || !tp_perf_event(list, length, &wanted[wanted_count])) {
			wanted_count = 0;
			return false;
		}
		wanted_count++;
		list += length;
		list += *list == ',';
	}
	return true;
}

static void tell_missing(const char *missing)
{
	if (*missing && !told)
		tp_log("TPROF_COUNTERS: not available here: ", missing);
	told = true;
}

void tp_counters_start(void)
{
	char missing[256];
	struct tp_text text = tp_text_in(missing, sizeof(missing));

	if (!wanted_count || tp_load(&tp_state.mode) != TP_MODE_ON)
		return;
	counted_count = 0;
	for (uint32_t i = 0; i < wanted_count; i++) {
		struct tp_perf_event *event = &wanted[i];
		int error = tp_perf_try(event);
		uint8_t flags = event->user_only ? TPROF_COUNTER_USER : 0;

		if (!error)
			counted[counted_count++] = *event;
		tp_table_counter(error ? 0 : counted_count, (uint32_t)error, flags, event->name);
		if (!error)
			continue;
		tp_text_add(&text, text.length ? ", " : "");
		tp_text_add(&text, event->name);
		if (error == EACCES || error == EPERM)
			tp_text_add(&text, " (not permitted)");
	}
	tell_missing(missing);
	if (counted_count && tp_self)
		tp_counters_attach(tp_self);
}

void tp_counters_attach(struct tp_thread *thread)
{
	struct tp_perf_values values;

	tp_perf_close(&thread->perf); /* of the dead thread that had this struct before */
	if (!counted_count)
		return;
	if (!tp_perf_open(&thread->perf, counted, counted_count)) {
		tp_lost(TPROF_LOST_COUNTERS, 1);
		return;
	}
	if (!tp_perf_read(&thread->perf, counted, &values))
		values = (struct tp_perf_values){ 0 };
	thread->counters = values;
}

static void close_inherited(struct tp_thread *thread)
{
	tp_perf_close(&thread->perf);
}

void tp_counters_forget(void)
{
	if (counted_count)
		tp_threads_each(close_inherited);
	counted_count = 0;
}

uint64_t tp_counters_emit(struct tp_thread *thread, uint64_t ticks)
{
	struct tp_perf_values now;
	uint8_t *p = thread->at;
	uint64_t after;

	if (!tp_perf_read(&thread->perf, counted, &now)) {
		tp_perf_close(&thread->perf);
		tp_lost(TPROF_LOST_COUNTERS, 1);
		return ticks;
	}
	p[0] = TPROF_EVENT_COUNTERS << 2;
	p = tp_put_uvarint(p + 2, tp_emit_time(thread, ticks));
	p = tp_put_uvarint(p, now.idle_ns - thread->counters.idle_ns);
	for (uint32_t i = 0; i < thread->perf.count; i++)
		p = tp_put_uvarint(p, now.value[i] - thread->counters.value[i]);
	tp_put_length(thread->at + 1, p);
	tp_emit_end(thread, p);
	thread->counters = now;
	after = tp_clock_before();
	thread->event_start = tp_timed_leave_out(thread->event_start, ticks, after);
	return after;
}
