/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that grows is refreshed: readers go on into what came since, and damage is neither lost nor told twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/archive.h"
#include "trace/chunks.h"
#include "trace/events.h"
#include "random_program.h"

static void write_over(const char *name, struct gen *gen)
{
	size_t size;
	const uint8_t *bytes = gen_bytes(gen, &size);
	FILE *file = fopen(name, "r+e");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void refresh(struct tpa_trace *trace)
{
	char *error;

	if (!tpa_trace_refresh(trace, &error))
		fail_msg("%s", error);
}

static bool is_same(const struct tpa_event *a, const struct tpa_event *b)
{
	return a->kind == b->kind && a->time == b->time && a->thread == b->thread && a->offset == b->offset &&
	       (!tpa_event_has_node(a->kind) || a->node == b->node);
}

/* Reads some events between one growth and the next, at times none and at times all that are there. */
static void follow(unsigned seed)
{
	struct program *all = random_program(seed, 4096), *early = random_program_of(seed, 4096, 0);
	struct tpa_trace *trace = tpa_trace_open(gen_save(early->gen), &(char *){ NULL }), *whole;
	struct tpa_events *events = tpa_events_open(trace), *expected;
	const char *name = trace->file;
	const struct tpa_event *event;
	char *error;
	size_t count = 0;

	whole = tpa_trace_open(gen_save(all->gen), &error);
	assert_non_null(whole);
	unlink(whole->file);
	expected = tpa_events_open(whole);
	for (size_t most = 20; most < OPS_MAX / 3; most += 20) {
		struct program *later = random_program_of(seed, 4096, most);
		unsigned some = most % 3 == 0 ? 0 : most % 7 ? 17 : 1000000;

		write_over(name, later->gen);
		refresh(trace);
		while (some-- && (event = tpa_events_next(events))) {
			assert_true(is_same(event, tpa_events_next(expected)));
			count++;
		}
		free_program(later);
	}
	write_over(name, all->gen);
	refresh(trace);
	while ((event = tpa_events_next(events))) {
		assert_true(is_same(event, tpa_events_next(expected)));
		count++;
	}
	assert_null(tpa_events_next(expected));
	assert_true(count > 100);
	assert_false(tpa_events_failed(events));
	assert_int_equal(tpa_events_done(events), tpa_events_total(events));
	assert_int_equal(trace->damage_count, whole->damage_count);
	assert_int_equal(trace->recorded_nodes, whole->recorded_nodes);
	assert_int_equal(trace->recorded_frames, whole->recorded_frames);
	tpa_events_close(events);
	tpa_events_close(expected);
	unlink(name);
	tpa_trace_close(trace);
	tpa_trace_close(whole);
	free_program(all);
	free_program(early);
}

static void test_readers_go_on(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 6; seed++)
		follow(seed);
}

static void read_all(struct tpa_trace *trace)
{
	struct tpa_events *events = tpa_events_open(trace);

	while (tpa_events_next(events))
		;
	tpa_events_close(events);
}

static struct tpa_trace *damaged(struct program *program)
{
	const struct tpa_chunks *chunks;
	struct tpa_trace *trace;
	char *error;
	size_t size;
	uint8_t *bytes = (uint8_t *)(uintptr_t)gen_bytes(program->gen, &size);

	trace = tpa_trace_open(gen_save_bytes(bytes, size), &error);
	assert_non_null(trace);
	chunks = tpa_trace_chunks(trace);
	assert_true(chunks->count > 2 && chunks->list[1].committed > 100);
	/* Zeros are no record. */
	memset(bytes + chunks->list[1].offset + sizeof(struct tprof_chunk) + chunks->list[1].committed - 40, 0, 40);
	unlink(trace->file);
	tpa_trace_close(trace);
	trace = tpa_trace_open(gen_save_bytes(bytes, size), &error);
	assert_non_null(trace);
	return trace;
}

static void test_damage_is_kept(void **state)
{
	struct program *program = random_program(3, 4096);
	struct tpa_trace *trace = damaged(program), *again;
	struct tpa_archive saved = { 0 }, loading = { 0 };
	char *error;

	(void)state;
	assert_int_equal(trace->damage_count, 0);
	read_all(trace);
	assert_int_equal(trace->damage_count, 1);
	refresh(trace);
	assert_int_equal(trace->damage_count, 1);
	tpa_damage_archive(&saved, trace);
	again = tpa_trace_open(trace->file, &error);
	assert_non_null(again);
	for (int i = 0; i < 2; i++) { /* twice: nothing is told twice */
		tpa_archive_load_from(&loading, saved.bytes, saved.size);
		tpa_damage_archive(&loading, again);
		assert_null(loading.failed);
		assert_int_equal(again->damage_count, 1);
		assert_int_equal(again->damage[0].offset, trace->damage[0].offset);
		assert_int_equal(again->damage[0].lost_bytes, trace->damage[0].lost_bytes);
		assert_string_equal(again->damage[0].reason, trace->damage[0].reason);
		read_all(again);
	}
	unlink(trace->file);
	tpa_archive_free(&saved);
	tpa_trace_close(trace);
	tpa_trace_close(again);
	free_program(program);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_go_on),
		cmocka_unit_test(test_damage_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
