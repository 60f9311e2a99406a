/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the event reader: the events of a made trace, one by one. Behind cmocka. */
#ifndef TPROF_TESTS_READING_H
#define TPROF_TESTS_READING_H

#include <unistd.h>

#include "trace/events.h"
#include "tracegen.h"

struct reading {
	struct tpa_trace *trace;
	struct tpa_events *events;
};

static inline struct reading begin(struct gen *gen)
{
	const char *name = gen_save(gen);
	struct reading reading;
	char *error = NULL;

	reading.trace = tpa_trace_open(name, &error);
	unlink(name);
	if (!reading.trace)
		fail_msg("%s", error);
	reading.events = tpa_events_open(reading.trace);
	assert_non_null(reading.events);
	return reading;
}

static inline const struct tpa_event *next(struct reading *reading, enum tpa_event_kind kind, uint64_t time)
{
	const struct tpa_event *event = tpa_events_next(reading->events);

	assert_non_null(event);
	assert_string_equal(tpa_event_kind_name(event->kind), tpa_event_kind_name(kind));
	assert_int_equal(event->time, time);
	return event;
}

static inline void end(struct reading *reading, size_t damage)
{
	assert_null(tpa_events_next(reading->events));
	assert_null(tpa_events_next(reading->events));
	assert_false(tpa_events_failed(reading->events));
	assert_int_equal(tpa_events_done(reading->events), tpa_events_total(reading->events));
	assert_int_equal(reading->trace->damage_count, damage);
	tpa_events_close(reading->events);
	tpa_trace_close(reading->trace);
}

static inline void do_alloc(struct gen *gen, uint32_t thread, uint64_t ticks, uint64_t address)
{
	struct gen_alloc alloc = { .address = address, .size = 1 };

	gen_alloc(gen, thread, ticks, &alloc);
}

#endif
