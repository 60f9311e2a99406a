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

/* The stack of a number of the file, as addresses and lines of Python. */
static size_t stack_of(const struct tpa_trace *trace, uint32_t number, uint64_t *places, size_t max)
{
	uint32_t frames[16], end;
	size_t count = tpa_trace_stack(trace, tpa_trace_node(trace, number), frames, 16, &end);

	assert_true(count <= max && count <= 16);
	for (size_t i = 0; i < count; i++)
		places[i] = trace->frames[frames[i]].pc + trace->frames[frames[i]].line;
	return count;
}

static void expect_stack(const struct tpa_trace *trace, uint32_t number, const uint64_t *wanted, size_t count)
{
	uint64_t places[16];

	assert_int_equal(stack_of(trace, number, places, 16), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(places[i], wanted[i]);
}

/* Modules come and go, and stacks are joined, between refreshes: what was known stays as it was. */
static void test_tables_grow(void **state)
{
	static const uint32_t native[] = { 1, 2 }, python[] = { 3 }, later[] = { 4 };
	static const uint64_t joined[] = { 12, 0x5020, 0x5010 }, deeper[] = { 0x2030, 0x5020, 0x5010 };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 1000 });
	struct tpa_trace *trace;
	uint32_t first;
	const char *path;

	(void)state;
	gen_module(gen, 7, 0x5000, 0x5000, 0x9000, "/usr/bin/python3");
	gen_frame(gen, 1, 7, 0x10, 0);
	gen_frame(gen, 2, 7, 0x20, TPROF_FRAME_LOOP);
	gen_nodes(gen, 20, TPROF_NODE_ROOT, native, 2);
	trace = tpa_trace_open(gen_save(gen), &(char *){ NULL });
	assert_non_null(trace);
	first = tpa_trace_node(trace, 21);
	path = trace->modules[0].path;
	gen_code(gen, 1, 10, "train", "/home/me/train.py");
	gen_python(gen, 3, 1, 12, TPROF_PYTHON_ENTRY);
	gen_nodes(gen, 30, TPROF_NODE_ROOT, python, 1);
	gen_join(gen, 31, 21, 30);
	gen_unload(gen, 7, 5000);
	write_over(trace->file, gen);
	refresh(trace);
	expect_stack(trace, 31, joined, 3);
	first = first == tpa_trace_node(trace, 21) ? tpa_trace_node(trace, 31) : 0;
	gen_module(gen, 2, 0x2000, 0x2000, 0x4000, "/usr/lib/plugin.so");
	gen_frame(gen, 4, 2, 0x30, 0);
	gen_nodes(gen, 40, 21, later, 1);
	write_over(trace->file, gen);
	for (int i = 0; i < 3; i++)
		refresh(trace);
	assert_int_equal(tpa_trace_node(trace, 31), first);
	assert_true(first >= TPROF_NODE_FIRST);
	expect_stack(trace, 40, deeper, 3);
	expect_stack(trace, 31, joined, 3);
	assert_int_equal(trace->module_count, 2);
	assert_int_equal(trace->modules[0].id, 2);
	assert_ptr_equal(trace->modules[1].path, path);
	assert_int_equal(trace->modules[1].unloaded_ticks, 5000);
	assert_ptr_equal(trace->frames[trace->nodes[tpa_trace_node(trace, 20)].frame].module, &trace->modules[1]);
	assert_int_equal(trace->damage_count, 0);
	unlink(trace->file);
	tpa_trace_close(trace);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_go_on),
		cmocka_unit_test(test_damage_is_kept),
		cmocka_unit_test(test_tables_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
