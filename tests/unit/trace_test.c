/* SPDX-License-Identifier: Apache-2.0 */
/* Opening traces: what a sound one says, and what is kept of a damaged one. */
#include <setjmp.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "trace/events.h"
#include "tracegen.h"

static struct tpa_trace *open_bytes(const void *bytes, size_t size, char **error)
{
	const char *name = gen_save_bytes(bytes, size);
	struct tpa_trace *trace = tpa_trace_open(name, error);

	unlink(name);
	return trace;
}

static struct tpa_trace *open_gen(struct gen *gen)
{
	size_t size;
	const uint8_t *bytes = gen_bytes(gen, &size);
	char *error = NULL;
	struct tpa_trace *trace = open_bytes(bytes, size, &error);

	if (!trace)
		fail_msg("%s", error);
	return trace;
}

static void expect_refusal(const void *bytes, size_t size, const char *words)
{
	char *error = NULL;
	struct tpa_trace *trace = open_bytes(bytes, size, &error);

	assert_null(trace);
	assert_non_null(error);
	assert_non_null(strstr(error, "offset"));
	if (!strstr(error, words))
		fail_msg("'%s' does not say '%s'", error, words);
	free(error);
}

static uint64_t count_events(struct tpa_trace *trace)
{
	struct tpa_events *events = tpa_events_open(trace);
	uint64_t count = 0;

	assert_non_null(events);
	while (tpa_events_next(events))
		count++;
	assert_false(tpa_events_failed(events));
	tpa_events_close(events);
	return count;
}

static bool has_damage(const struct tpa_trace *trace, const char *words)
{
	size_t i;

	for (i = 0; i < trace->damage_count; i++)
		if (strstr(trace->damage[i].reason, words))
			return true;
	return false;
}

/* 300 allocations of one thread, in several chunks of a page. */
static struct gen *small_trace(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 1000 });
	uint32_t frames[2] = { 1, 2 }, i;

	gen_text(gen, TPROF_TEXT_EXE, "/usr/bin/program", 16);
	gen_module(gen, 1, 0x1000, 0x4000, 0x9000, "/usr/bin/program");
	gen_frame(gen, 1, 1, 0x10, 0);
	gen_frame(gen, 2, 1, 0x20, 0);
	gen_nodes(gen, TPROF_NODE_FIRST, TPROF_NODE_ROOT, frames, 2);
	for (i = 0; i < 1200; i++) {
		struct gen_alloc alloc = { .address = 0x10000 + 64 * i, .size = i, .node = TPROF_NODE_FIRST + 1 };

		gen_alloc(gen, 1, 2000 + 300 * i, &alloc);
	}
	gen_finish(gen, 1000000, 0);
	return gen;
}

static void test_sound(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 1000, .tick_shift = 3 });
	uint32_t chain[3] = { 1, 2, 3 }, twin[2] = { 4, 3 }, frames[8], end;
	struct tpa_trace *trace;

	(void)state;
	gen_text(gen, TPROF_TEXT_EXE, "/usr/bin/program", 16);
	gen_text(gen, TPROF_TEXT_ARGS, "program\0-x\0\0", 12);
	gen_text(gen, TPROF_TEXT_ENV, "TPROF_DEPTH=3", 13);
	gen_frame(gen, 4, 2, 0x200, 0); /* the same place as frame 2 */
	gen_module(gen, 2, 0x5000, 0x5000, 0x9000, "/usr/lib/libx.so");
	gen_module(gen, 1, 0, 0x1000, 0x2000, "/usr/bin/program");
	gen_unload(gen, 2, 77);
	gen_frame(gen, 1, 1, 0x100, 0);
	gen_frame(gen, 2, 2, 0x200, 0);
	gen_frame(gen, 3, 0, 0xabcdef, TPROF_FRAME_EXACT);
	gen_nodes(gen, 20, TPROF_NODE_ROOT, chain, 3);
	gen_nodes(gen, 30, 20, twin, 2); /* 30 is 21, so 31 is 22 */
	gen_nodes(gen, 40, TPROF_NODE_CUT, chain + 2, 1);
	trace = open_gen(gen);

	assert_int_equal(trace->damage_count, 0);
	assert_string_equal(trace->exe, "/usr/bin/program");
	assert_string_equal(trace->cwd, "");
	assert_int_equal(trace->arg_count, 3);
	assert_string_equal(trace->args[1], "-x");
	assert_string_equal(trace->args[2], "");
	assert_int_equal(trace->env_count, 1);
	assert_string_equal(trace->env[0], "TPROF_DEPTH=3");
	assert_int_equal(trace->module_count, 2);
	assert_int_equal(trace->modules[1].id, 2);
	assert_string_equal(trace->modules[1].path, "/usr/lib/libx.so");
	assert_int_equal(trace->modules[1].unloaded_ticks, 77);
	assert_int_equal(trace->modules[1].build_id_length, 4);
	assert_memory_equal(trace->modules[1].build_id, "\1\2\3\4", 4);
	assert_int_equal(trace->recorded_frames, 4);
	assert_int_equal(trace->recorded_nodes, 41 - TPROF_NODE_FIRST);
	assert_int_equal(tpa_trace_node(trace, 31), tpa_trace_node(trace, 22));
	assert_int_equal(tpa_trace_node(trace, 30), tpa_trace_node(trace, 21));
	assert_int_not_equal(tpa_trace_node(trace, 20), tpa_trace_node(trace, 21));
	assert_int_equal(tpa_trace_file_node(trace, tpa_trace_node(trace, 40)), 40);
	assert_int_equal(tpa_trace_stack(trace, tpa_trace_node(trace, 31), frames, 3, &end), 3);
	assert_int_equal(trace->frames[frames[0]].pc, 0xabcdef);
	assert_null(trace->frames[frames[0]].module);
	assert_int_equal(trace->frames[frames[1]].pc, 0x5200);
	assert_ptr_equal(trace->frames[frames[1]].module, &trace->modules[1]);
	assert_int_equal(trace->frames[frames[2]].pc, 0x1100);
	assert_int_equal(end, TPROF_NODE_ROOT);
	assert_int_equal(tpa_trace_stack(trace, tpa_trace_node(trace, 40), frames, 8, &end), 1);
	assert_int_equal(end, TPROF_NODE_CUT);
	assert_int_equal(tpa_trace_node(trace, 25), TPROF_NODE_NONE);
	assert_int_equal(tpa_trace_node(trace, 1000000), TPROF_NODE_NONE);
	assert_int_equal(tpa_trace_stack(trace, 1000000, frames, 8, &end), 0);
	assert_int_equal(end, TPROF_NODE_NONE);
	assert_int_equal(trace->node_count, TPROF_NODE_FIRST + 4);
	assert_int_equal(tpa_trace_ns(trace, 1500), 500);
	assert_int_equal(tpa_trace_ns(trace, 1), 0);
	assert_int_equal(tpa_trace_time(trace, 7000), 1000);
	assert_false(trace->running);
	tpa_trace_close(trace);
	gen_free(gen);
}

static void test_refusals(void **state)
{
	struct gen *gen = small_trace();
	struct tprof_header *header = gen_header(gen);
	const uint8_t *bytes;
	char *error = NULL;
	size_t size;

	(void)state;
	expect_refusal("", 0, "empty");
	expect_refusal("heaptrack", 9, "not a tprof trace");
	expect_refusal("TPROF", 5, "ends inside its header");
	bytes = gen_bytes(gen, &size);
	expect_refusal(bytes, 100, "offset 100: the file ends inside its header");
	header->version = 7;
	bytes = gen_bytes(gen, &size);
	expect_refusal(bytes, size, "version 7");
	header->version = TPROF_VERSION;
	header->features_required = 0x10;
	bytes = gen_bytes(gen, &size);
	expect_refusal(bytes, size, "features 0x10");
	header->features_required = 0;
	header->machine = 183;
	bytes = gen_bytes(gen, &size);
	expect_refusal(bytes, size, "written on machine 183 (ELF's number), which this tprof-analyze can't read");
	assert_null(tpa_trace_open("/", &error));
	assert_non_null(strstr(error, "/: is a directory"));
	free(error);
	assert_null(tpa_trace_open("/dev/null", &error));
	assert_non_null(strstr(error, "not a regular file"));
	free(error);
	assert_null(tpa_trace_open("/nowhere/trace.bin", &error));
	assert_non_null(strstr(error, "No such file"));
	free(error);
	gen_free(gen);
}

/* Cut anywhere: what lies before the cut is read. */
static void test_cut(void **state)
{
	struct gen *gen = small_trace();
	uint64_t last = 0, events;
	const uint8_t *bytes;
	size_t size, length;
	char *error = NULL;

	(void)state;
	bytes = gen_bytes(gen, &size);
	for (length = sizeof(struct tprof_header); length <= size; length += 61) {
		struct tpa_trace *trace = open_bytes(bytes, length, &error);

		assert_non_null(trace);
		events = count_events(trace);
		assert_true(events >= last);
		assert_true(length + 4096 > size || trace->damage_count > 0);
		assert_true(trace->used_bytes <= length);
		last = events;
		tpa_trace_close(trace);
	}
	assert_true(last > 1000);
	gen_free(gen);
}

static void check_damage(struct gen *gen, uint8_t *bytes, size_t size, const char *words, uint64_t least)
{
	char *error = NULL;
	struct tpa_trace *trace = open_bytes(bytes, size, &error);

	(void)gen;
	assert_non_null(trace);
	assert_true(count_events(trace) >= least);
	if (!has_damage(trace, words))
		fail_msg("no damage says '%s'", words);
	tpa_trace_close(trace);
}

static void test_chunk_damage(void **state)
{
	struct gen *gen = small_trace();
	size_t size, offset = 4096 + 2 * 4096; /* chunk 2, of events */
	const uint8_t *sound = gen_bytes(gen, &size);
	uint8_t *bytes = malloc(size);
	struct tprof_header *header = (struct tprof_header *)bytes;
	struct tprof_chunk *chunk = (struct tprof_chunk *)(bytes + offset);

	(void)state;
	assert_non_null(bytes);
	memcpy(bytes, sound, size);
	chunk->magic = 0x12345678;
	check_damage(gen, bytes, size, "no chunk where one should begin", 500);
	memcpy(bytes, sound, size);
	chunk->kind = 9;
	check_damage(gen, bytes, size, "unknown kind", 500);
	memcpy(bytes, sound, size);
	chunk->committed = UINT64_MAX;
	check_damage(gen, bytes, size, "more than a chunk can", 1200);
	memcpy(bytes, sound, size);
	memset(chunk + 1, 0, 100);
	check_damage(gen, bytes, size, "zeros where", 500);
	memcpy(bytes, sound, size);
	memset(chunk + 1, 0xff, 100);
	check_damage(gen, bytes, size, "malformed", 500);
	memcpy(bytes, sound, size);
	header->text[TPROF_TEXT_EXE].offset = UINT32_MAX;
	check_damage(gen, bytes, size, "outside of the header", 1200);
	memcpy(bytes, sound, size);
	header->chunks = 1000;
	check_damage(gen, bytes, size, "before its last chunk", 1200);
	memcpy(bytes, sound, size);
	header->chunk_size = 77;
	check_damage(gen, bytes, size, "impossible chunk size", 0);
	memcpy(bytes, sound, size);
	header->header_size = UINT32_MAX;
	check_damage(gen, bytes, size, "impossible header size", 0);
	free(bytes);
	gen_free(gen);
}

/* Numbers that would take gigabytes are not believed. */
static void test_wild_numbers(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });
	struct gen_alloc alloc = { .address = 0x1000, .size = 1, .node = UINT32_MAX };
	uint32_t frame = 1;
	struct tpa_trace *trace;

	(void)state;
	gen_frame(gen, 4000000000u, 1, 5, 0);
	gen_frame(gen, 2, 4000000000u, 5, 0);
	gen_module(gen, 4000000000u, 0, 0, 0, "x");
	gen_nodes(gen, 2000000000u, TPROF_NODE_ROOT, &frame, 1);
	gen_alloc(gen, 4000000u, 10, &alloc);
	trace = open_gen(gen);
	assert_true(has_damage(trace, "out of range"));
	assert_true(trace->recorded_frames < 70000);
	assert_true(trace->recorded_nodes < 70000);
	assert_int_equal(count_events(trace), 1);
	assert_true(has_damage(trace, "thread number"));
	tpa_trace_close(trace);
	gen_free(gen);
}

/* Any bits: no crash, no endless loop (and under ASan, no access out of bounds). */
static void test_flipped_bits(void **state)
{
	struct gen *gen = small_trace();
	size_t size;
	const uint8_t *sound = gen_bytes(gen, &size);
	uint8_t *bytes = malloc(size);
	unsigned seed = 7, round, i;

	(void)state;
	assert_non_null(bytes);
	for (round = 0; round < 400; round++) {
		struct tpa_trace *trace;
		char *reason = NULL;

		memcpy(bytes, sound, size);
		for (i = 0; i <= round % 20; i++) {
			seed = seed * 1103515245u + 12345u;
			bytes[(seed >> 4) % size] ^= (uint8_t)(1u << (seed >> 29));
		}
		trace = open_bytes(bytes, size, &reason);
		if (trace)
			tpa_run_free(tpa_run_replay(&trace, 1, NULL));
		else
			assert_non_null(reason);
		free(reason);
		tpa_trace_close(trace);
	}
	free(bytes);
	gen_free(gen);
}

/* Field 22 of /proc/self/stat, and a trace of this very process. */
static void test_running(void **state)
{
	struct gen *gen = small_trace();
	struct tprof_header *header = gen_header(gen);
	FILE *file = fopen("/proc/self/stat", "r");
	unsigned long long start = 0;
	struct tpa_trace *trace;

	(void)state;
	assert_non_null(file);
	assert_int_equal(fscanf(file,
				"%*d %*s %*c %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d %*d "
				"%*d %llu",
				&start),
			 1);
	fclose(file);
	header->pid = (uint32_t)getpid();
	header->process_start = start;
	header->end = TPROF_END_NONE;
	trace = open_gen(gen);
	assert_true(trace->running);
	tpa_trace_close(trace);
	header->process_start++;
	trace = open_gen(gen);
	assert_false(trace->running);
	tpa_trace_close(trace);
	gen_free(gen);
}

/* A counter of 2.5 GHz; some moments were interrupted, one is damaged. */
static void test_clock(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .clock = TPROF_CLOCK_TSC, .start_ticks = 1000000 });
	struct tprof_header *header = gen_header(gen);
	struct gen_alloc alloc = { .address = 0x1000, .size = 1 };
	struct tpa_trace *trace;
	uint8_t *bytes;
	size_t size, i;
	char *error;

	(void)state;
	for (i = 0; i < 20; i++)
		gen_alloc(gen, (uint32_t)i + 1, 1000000 + 25000000 * (i + 1), &alloc);
	header->start.mono_ns = 500;
	bytes = (uint8_t *)(uintptr_t)gen_bytes(gen, &size);
	for (i = 0; i < 20; i++) {
		struct tprof_chunk *chunk = (struct tprof_chunk *)(bytes + 4096 + 4096 * i);

		chunk->begin.mono_ns = 500 + 10000000 * (i + 1) + (i % 4 == 1 ? 300000 : 0);
		if (i == 9)
			chunk->begin.mono_ns ^= UINT64_C(1) << 60;
	}
	trace = open_bytes(bytes, size, &error);
	assert_non_null(trace);
	assert_in_range(tpa_trace_ns(trace, 1000000 + 2500000000), 1000000000 - 1000000, 1000000000 + 1000000);
	tpa_trace_close(trace);
	gen_free(gen);
}

/* What happens to a file while it is read: once `when` was read from, `head` is put at `place`. */
static struct late {
	int fd;
	off_t when, place;
	struct tprof_chunk head;
} late = { .fd = -1 };

/* In libc's place. */
ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
	ssize_t got = syscall(SYS_pread64, fd, buffer, size, offset);

	if (late.fd >= 0 && offset == late.when)
		assert_int_equal(pwrite(late.fd, &late.head, sizeof(late.head), late.place), sizeof(late.head));
	return got;
}

/*
 * A running program makes chunks ahead: those of a later place may have begun earlier. The tables of one that begins when its
 * place was read already are there all the same.
 */
static void test_chunk_begun_late(void **state)
{
	struct gen *gen = small_trace();
	size_t size;
	const uint8_t *sound = gen_bytes(gen, &size);
	struct tprof_chunk nothing = { 0 };
	struct tpa_trace *trace = open_gen(gen);
	size_t frames = trace->recorded_frames;
	off_t place = 4096;
	char *error = NULL;
	const char *name;

	(void)state;
	tpa_trace_close(trace);
	while (((const struct tprof_chunk *)(sound + place))->kind != TPROF_CHUNK_TABLES)
		place += 4096;
	assert_true((size_t)place + 4096 < size); /* there is one behind it */
	name = gen_save_bytes(sound, size);
	late.fd = open(name, O_RDWR | O_CLOEXEC);
	assert_true(late.fd >= 0);
	late.place = place;
	late.when = place + 4096;
	memcpy(&late.head, sound + place, sizeof(late.head));
	assert_int_equal(pwrite(late.fd, &nothing, sizeof(nothing), place), sizeof(nothing));
	trace = tpa_trace_open(name, &error);
	unlink(name);
	close(late.fd);
	late.fd = -1;
	assert_non_null(trace);
	assert_int_equal(trace->recorded_frames, frames);
	assert_int_equal(trace->damage_count, 0);
	tpa_trace_close(trace);
	gen_free(gen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_chunk_damage),
		cmocka_unit_test(test_wild_numbers),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_chunk_begun_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
