/* SPDX-License-Identifier: Apache-2.0 */
/* What the collector's writer writes, the analyzer's reader reads: random events of every kind, field by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../stress/roundtrip.h"
#include "trace/events.h"

#define THREADS_MAX 64

static const char *writer; /* tests/stress/events_stress of the same build */

struct list {
	struct roundtrip_event *events;
	size_t count;
};

static struct list read_list(const char *path)
{
	struct list list = { NULL, 0 };
	FILE *file = fopen(path, "rbe");
	long size;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size > 0);
	rewind(file);
	list.count = (size_t)size / sizeof(*list.events);
	list.events = calloc(list.count, sizeof(*list.events));
	assert_non_null(list.events);
	assert_int_equal(fread(list.events, sizeof(*list.events), list.count, file), list.count);
	fclose(file);
	return list;
}

static void check_text(struct tpa_event_text text, const struct roundtrip_event *wrote)
{
	assert_int_equal(text.length, strlen(wrote->text));
	assert_memory_equal(text.text, wrote->text, text.length);
}

static void check_block(const struct tpa_event *event, const struct roundtrip_event *wrote)
{
	assert_int_equal(event->block.address, wrote->address);
	assert_int_equal(event->kind == TPA_EVENT_FREE ? event->free.fn : event->alloc.fn, wrote->fn);
	if (wrote->kind == ROUNDTRIP_FREE)
		return;
	assert_int_equal(event->alloc.bytes, wrote->size);
	assert_int_equal(event->alloc.usable, wrote->usable);
	assert_int_equal(event->node, wrote->node);
	assert_int_equal(event->alloc.alignment_log2, wrote->alignment);
}

static void check_mapping(const struct tpa_event *event, const struct roundtrip_event *wrote)
{
	if (wrote->kind == ROUNDTRIP_UNMAP) {
		assert_int_equal(event->unmap.address, wrote->address);
		assert_int_equal(event->unmap.length, wrote->size);
		assert_int_equal(event->unmap.remap, wrote->flag);
		return;
	}
	assert_int_equal(event->map.address, wrote->address);
	assert_int_equal(event->map.length, wrote->size);
	assert_int_equal(event->map.remap, wrote->flag);
	assert_int_equal(event->map.flags, wrote->usable);
	assert_int_equal(event->map.prot, wrote->protection);
	assert_int_equal(event->node, wrote->node);
}

static void check(const struct tpa_event *event, const struct roundtrip_event *wrote)
{
	static const uint8_t kinds[ROUNDTRIP_KINDS] = {
		TPA_EVENT_ALLOC,  TPA_EVENT_FREE,   TPA_EVENT_CANCEL, TPA_EVENT_MAP,
		TPA_EVENT_UNMAP,  TPA_EVENT_MEMORY, TPA_EVENT_SAMPLE, TPA_EVENT_OP_BEGIN,
		TPA_EVENT_OP_END, TPA_EVENT_STEP,   TPA_EVENT_DETAIL, TPA_EVENT_MARK,
	};

	assert_int_equal(event->kind, kinds[wrote->kind]);
	assert_int_equal(event->time, wrote->time);
	switch (wrote->kind) {
	case ROUNDTRIP_ALLOC:
	case ROUNDTRIP_FREE:
		check_block(event, wrote);
		break;
	case ROUNDTRIP_MAP:
	case ROUNDTRIP_UNMAP:
		check_mapping(event, wrote);
		break;
	case ROUNDTRIP_MEMORY:
		assert_int_equal(event->memory.rss, wrote->size);
		assert_int_equal(event->memory.vms, wrote->usable);
		break;
	case ROUNDTRIP_SAMPLE:
		assert_int_equal(event->node, wrote->node);
		assert_int_equal(event->sample.periods, wrote->size);
		break;
	case ROUNDTRIP_OP:
		assert_int_equal(event->op_begin.op, wrote->size);
		break;
	case ROUNDTRIP_STEP:
		assert_int_equal(event->step.items, wrote->size);
		break;
	case ROUNDTRIP_OP_END:
		assert_int_equal(event->op_end.unwound, wrote->flag);
		break;
	case ROUNDTRIP_DETAIL:
		assert_int_equal(event->detail.flop, wrote->size);
		assert_int_equal(event->detail.bytes, wrote->usable);
		check_text(event->detail.shape, wrote);
		break;
	case ROUNDTRIP_MARK:
		check_text(event->mark, wrote);
		break;
	}
}

/* The list has each thread's events one behind the other: where the next one of each is. */
static void find_threads(const struct list *list, size_t *next)
{
	for (size_t i = list->count; i-- > 0;) {
		assert_true(list->events[i].thread < THREADS_MAX);
		next[list->events[i].thread] = i;
	}
}

static void compare(const char *trace_path, const char *list_path)
{
	char *error = NULL;
	struct list list = read_list(list_path);
	struct tpa_trace *trace = tpa_trace_open(trace_path, &error);
	struct tpa_events *events;
	const struct tpa_event *event;
	size_t next[THREADS_MAX] = { 0 }, seen = 0;

	assert_non_null(trace);
	assert_int_equal(trace->damage_count, 0);
	find_threads(&list, next);
	events = tpa_events_open(trace);
	assert_non_null(events);
	while ((event = tpa_events_next(events))) {
		if (event->kind == TPA_EVENT_NAME || event->kind == TPA_EVENT_THREAD)
			continue; /* chunks begin with them, and threads in others' chunks */
		assert_true(event->thread < THREADS_MAX && next[event->thread] < list.count);
		assert_int_equal(list.events[next[event->thread]].thread, event->thread);
		check(event, &list.events[next[event->thread]++]);
		seen++;
	}
	assert_int_equal(seen, list.count);
	assert_int_equal(trace->damage_count, 0);
	tpa_events_close(events);
	tpa_trace_close(trace);
	free(list.events);
}

static void all_kinds(void **state)
{
	char directory[] = "/tmp/tprof-roundtrip-XXXXXX", trace[64], list[64], command[4096];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(trace, sizeof(trace), "%s/trace.bin", directory);
	snprintf(list, sizeof(list), "%s/list", directory);
	snprintf(command, sizeof(command), "'%s' %s %s >/dev/null", writer, trace, list);
	assert_int_equal(system(command), 0);
	compare(trace, list);
	unlink(trace);
	unlink(list);
	rmdir(directory);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_kinds) };
	static char path[4096];
	char *name = strrchr(argv[0], '/');

	(void)argc;
	snprintf(path, sizeof(path), "%.*s/../stress/events_stress", name ? (int)(name - argv[0]) : 1,
		 name ? argv[0] : ".");
	writer = path;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
