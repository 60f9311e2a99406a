/* SPDX-License-Identifier: Apache-2.0 */
/* Saved replays: they go on with the same result, also of a trace that has grown, and damaged or foreign ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "base/archive.h"
#include "model/replay/replay.h"
#include "trace/chunks.h"
#include "random_program.h"
#include "result_of.h"

static const struct tpa_replay_options options = { .timeline_points = 64, .keep_growth = true };

static struct tpa_run *whole_run(struct tpa_trace *trace)
{
	struct tpa_replay replay;
	struct tpa_run *run;

	tpa_replay_init(&replay, trace, &options, 0);
	tpa_replay_steps(&replay, SIZE_MAX);
	run = result_of(&replay);
	tpa_replay_free(&replay);
	return run;
}

static void assert_same(const struct tpa_run *a, const struct tpa_run *b)
{
	const struct tpa_process *x = a->processes, *y = b->processes;

	assert_memory_equal(&x->heap, &y->heap, sizeof(x->heap));
	assert_int_equal(x->site_count, y->site_count);
	assert_int_equal(x->map_site_count, y->map_site_count);
	assert_int_equal(x->point_count, y->point_count);
	assert_int_equal(x->thread_count, y->thread_count);
	assert_int_equal(x->duration_ns, y->duration_ns);
	for (size_t i = 0; i < x->site_count; i++) {
		assert_int_equal(x->sites[i].node, y->sites[i].node);
		assert_int_equal(x->sites[i].allocations, y->sites[i].allocations);
		assert_int_equal(x->sites[i].peak_bytes, y->sites[i].peak_bytes);
		assert_int_equal(x->sites[i].live_bytes, y->sites[i].live_bytes);
		assert_int_equal(x->sites[i].live_born.last, y->sites[i].live_born.last);
	}
	for (size_t i = 0; i < x->map_site_count; i++)
		assert_int_equal(x->map_sites[i].peak_bytes, y->map_sites[i].peak_bytes);
	for (size_t i = 0; i < x->point_count; i++) {
		assert_int_equal(x->timeline[i].time_ns, y->timeline[i].time_ns);
		assert_int_equal(x->timeline[i].live_bytes, y->timeline[i].live_bytes);
	}
}

/* Replays `events` events, and saves. */
static void save(struct tpa_trace *trace, size_t events, struct tpa_archive *archive)
{
	struct tpa_replay replay;

	memset(archive, 0, sizeof(*archive));
	tpa_replay_init(&replay, trace, &options, 0);
	tpa_replay_steps(&replay, events);
	assert_true(tpa_replay_save(&replay, archive));
	assert_true(tpa_archive_seal(archive));
	tpa_replay_free(&replay);
}

/* Loads what was saved, and goes on to the end. */
static struct tpa_run *go_on(struct tpa_trace *trace, const struct tpa_archive *saved)
{
	struct tpa_archive archive = { 0 };
	struct tpa_replay replay;
	struct tpa_run *run;

	assert_true(tpa_archive_open(&archive, saved->bytes, saved->size));
	if (!tpa_replay_load(&replay, trace, &options, 0, &archive))
		fail_msg("%s", archive.failed);
	assert_int_equal(archive.at, archive.size);
	tpa_replay_steps(&replay, SIZE_MAX);
	run = result_of(&replay);
	tpa_replay_free(&replay);
	return run;
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 4; seed++) {
		struct program *program = random_program(seed, 4096);
		struct replayed replayed = { 0 };
		struct tpa_archive saved;
		struct tpa_run *whole;

		add_trace(&replayed, program->gen);
		whole = whole_run(replayed.traces[0]);
		for (size_t events = 0; events < 2 * program->count; events += 1 + program->count / 60) {
			struct tpa_run *run;

			save(replayed.traces[0], events, &saved);
			run = go_on(replayed.traces[0], &saved);
			assert_same(run, whole);
			tpa_run_free(run);
			tpa_archive_free(&saved);
		}
		tpa_run_free(whole);
		close_replayed(&replayed);
		free_program(program);
	}
}

/* The trace is read three times while it grows; the last reading ends as one of the whole trace does. */
static void test_trace_that_grows(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct program *early = random_program_of(seed, 4096, 80), *late = random_program_of(seed, 4096, 150),
			       *all = random_program(seed, 4096);
		struct replayed replayed = { 0 };
		struct tpa_archive first, second;
		struct tpa_archive loading = { 0 };
		struct tpa_run *whole, *run;
		struct tpa_replay replay;

		add_trace(&replayed, early->gen);
		add_trace(&replayed, late->gen);
		add_trace(&replayed, all->gen);
		save(replayed.traces[0], SIZE_MAX, &first);
		assert_true(tpa_archive_open(&loading, first.bytes, first.size));
		assert_true(tpa_replay_load(&replay, replayed.traces[1], &options, 0, &loading));
		tpa_replay_steps(&replay, SIZE_MAX);
		memset(&second, 0, sizeof(second));
		assert_true(tpa_replay_save(&replay, &second) && tpa_archive_seal(&second));
		tpa_replay_free(&replay);
		run = go_on(replayed.traces[2], &second);
		whole = whole_run(replayed.traces[2]);
		assert_memory_equal(&run->processes->heap, &whole->processes->heap, sizeof(whole->processes->heap));
		assert_int_equal(run->processes->site_count, whole->processes->site_count);
		tpa_run_free(run);
		tpa_run_free(whole);
		tpa_archive_free(&first);
		tpa_archive_free(&second);
		close_replayed(&replayed);
		free_program(early);
		free_program(late);
		free_program(all);
	}
}

/* ---- chunks that are thrown away ---- */

#define CHUNK_BYTES 4096u
#define ROUNDS 40
#define EVENTS 40000

/* Blocks of three threads; few stay. */
static struct gen *many_chunks(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = CHUNK_BYTES, .clock = TPROF_CLOCK_TSC });

	for (uint32_t i = 0; i < EVENTS; i++) {
		struct gen_alloc alloc = { .address = 0x1000 + 64 * (i % 9000), .size = 1 + i % 1000 };

		if (i >= 3000 && i % 100)
			gen_release(gen, 1 + i % 2, 100 * i, 0x1000 + 64 * ((i - 3000) % 9000), TPROF_FN_FREE);
		gen_alloc(gen, 1 + i % 3, 100 * i + 50, &alloc);
	}
	return gen;
}

/* Each chunk says what recording took (some have few timed events), and a counter of 2.5 GHz is read with some delay. */
static void add_costs(uint8_t *bytes, size_t size)
{
	const struct tprof_header *header = (const struct tprof_header *)(const void *)bytes;

	for (size_t at = header->header_size, i = 0; at < size; at += CHUNK_BYTES, i++) {
		struct tprof_chunk *chunk = (struct tprof_chunk *)(void *)(bytes + at);

		chunk->begin.mono_ns = 100 + chunk->begin.ticks * 2 / 5 + i % 7 * 10;
		if (chunk->kind != TPROF_CHUNK_EVENTS)
			continue;
		chunk->overhead_samples = i < 12 ? 9 : 1 + i % 20;
		chunk->overhead_ticks = chunk->overhead_samples * (64 * 50 + i);
	}
}

static void open_file(struct tpa_trace **trace, const char *name)
{
	char *error = NULL;

	*trace = tpa_trace_open(name, &error);
	if (!*trace)
		fail_msg("%s", error);
}

/* Overwrites what the replay has read. */
static void throw_away(const struct tpa_replay *replay, const char *name)
{
	static const char zeros[CHUNK_BYTES];
	uint64_t *offsets = calloc(tpa_trace_chunks(replay->trace)->count + 1, sizeof(*offsets));
	size_t count = tpa_events_read(replay->events, replay->event != NULL, offsets);
	FILE *file = fopen(name, "r+e");

	assert_true(file && offsets);
	for (size_t i = 0; i < count; i++)
		assert_true(fseek(file, (long)offsets[i], SEEK_SET) == 0 && fwrite(zeros, sizeof(zeros), 1, file) == 1);
	assert_int_equal(fclose(file), 0);
	free(offsets);
}

/* Bytes of a saved state that say what became of the chunks. */
static size_t chunk_bytes(struct tpa_trace *trace)
{
	struct tpa_archive archive = { 0 };
	size_t size;

	tpa_chunks_archive(&archive, trace);
	size = archive.size;
	tpa_archive_free(&archive);
	return size;
}

/* What is taken out of ops' times is the same as when all chunks are there. */
static void assert_same_costs(const struct tpa_chunks *some, const struct tpa_chunks *all)
{
	for (size_t i = 0, k = 0; i < some->count; i++) {
		if (some->list[i].gone)
			continue;
		while (all->list[k].offset != some->list[i].offset)
			k++;
		assert_true(some->list[i].event_cost == all->list[k].event_cost && all->list[k].event_cost > 0);
		assert_true(some->list[i].free_cost == all->list[k].free_cost);
	}
}

/*
 * The trace is read in many rounds. Each loads what the last one saved, and throws away what it has read. The last one
 * says what one reading of the whole trace does; what is saved of the chunks does not grow with their number.
 */
static void test_chunks_are_thrown_away(void **state)
{
	const struct tpa_chunks *all;
	struct gen *gen = many_chunks();
	struct tpa_trace *trace, *whole;
	struct tpa_archive saved = { 0 };
	struct tpa_run *run, *expected;
	struct tpa_replay replay;
	char name[4096];
	uint8_t *bytes;
	size_t size;

	(void)state;
	bytes = (uint8_t *)(uintptr_t)gen_bytes(gen, &size);
	add_costs(bytes, size);
	snprintf(name, sizeof(name), "%s", gen_save_bytes(bytes, size));
	open_file(&whole, name);
	all = tpa_trace_chunks(whole);
	assert_true(all->count > 100);
	expected = whole_run(whole);
	tpa_replay_init(&replay, whole, &options, 0);
	for (int round = 0; round < ROUNDS; round++) {
		struct tpa_archive loading = { 0 };

		throw_away(&replay, name);
		tpa_archive_free(&saved);
		saved = (struct tpa_archive){ 0 };
		assert_true(tpa_replay_save(&replay, &saved));
		tpa_replay_free(&replay);
		if (round)
			tpa_trace_close(trace);
		open_file(&trace, name);
		tpa_archive_load_from(&loading, saved.bytes, saved.size);
		if (!tpa_replay_load(&replay, trace, &options, 0, &loading))
			fail_msg("%s", loading.failed);
		assert_same_costs(tpa_trace_chunks(trace), all);
		tpa_replay_steps(&replay, round < ROUNDS - 1 ? 2 * EVENTS / ROUNDS : SIZE_MAX);
	}
	assert_true(tpa_trace_chunks(trace)->gone.count > all->count * 3 / 4);
	assert_true(chunk_bytes(trace) < sizeof(struct tpa_gone) + 16 * sizeof(struct tpa_chunk));
	assert_true(tpa_cost_recording(trace) == tpa_cost_recording(whole));
	assert_int_equal(trace->used_bytes, whole->used_bytes);
	for (uint64_t ticks = 1; ticks < UINT64_C(1) << 40; ticks *= 3)
		assert_int_equal(tpa_trace_ns(trace, ticks), tpa_trace_ns(whole, ticks));
	run = result_of(&replay);
	assert_same(run, expected);
	tpa_run_free(run);
	tpa_archive_free(&saved);
	tpa_replay_free(&replay);
	tpa_trace_close(trace);
	tpa_trace_close(whole);
	tpa_run_free(expected);
	unlink(name);
	gen_free(gen);
}

static void test_damage_is_refused(void **state)
{
	struct program *program = random_program(7, 4096);
	struct replayed replayed = { 0 };
	struct tpa_archive saved, archive = { 0 };

	(void)state;
	add_trace(&replayed, program->gen);
	save(replayed.traces[0], 500, &saved);
	assert_false(tpa_archive_open(&archive, "", 0));
	assert_string_equal(archive.failed, "no saved state of tprof-analyze");
	for (size_t size = 1; size < saved.size; size += 1 + size / 3) {
		assert_false(tpa_archive_open(&archive, saved.bytes, size));
		assert_non_null(archive.failed);
	}
	for (size_t at = 0; at < saved.size; at += 1 + saved.size / 997) {
		saved.bytes[at] ^= 0x10;
		if (at < 12 || at >= 16) /* a reserved word */
			assert_false(tpa_archive_open(&archive, saved.bytes, saved.size));
		saved.bytes[at] ^= 0x10;
	}
	assert_true(tpa_archive_open(&archive, saved.bytes, saved.size));
	tpa_archive_free(&saved);
	close_replayed(&replayed);
	free_program(program);
}

static void test_foreign_is_refused(void **state)
{
	static const struct tpa_replay_options by_thread = { .group = TPA_GROUP_THREAD, .timeline_points = 64 };
	struct program *program = random_program(8, 4096), *other = random_program(9, 4096);
	struct replayed replayed = { 0 };
	struct tpa_archive saved, archive = { 0 };
	struct tpa_replay replay;

	(void)state;
	gen_header(other->gen)->pid = 4712;
	add_trace(&replayed, program->gen);
	add_trace(&replayed, other->gen);
	save(replayed.traces[0], 300, &saved);
	assert_true(tpa_archive_open(&archive, saved.bytes, saved.size));
	assert_false(tpa_replay_load(&replay, replayed.traces[1], &options, 0, &archive));
	assert_string_equal(archive.failed, "the saved state is of another trace");
	tpa_replay_free(&replay);
	assert_true(tpa_archive_open(&archive, saved.bytes, saved.size));
	assert_false(tpa_replay_load(&replay, replayed.traces[0], &by_thread, 0, &archive));
	assert_string_equal(archive.failed, "the saved state was made with other options");
	tpa_replay_free(&replay);
	tpa_archive_free(&saved);
	close_replayed(&replayed);
	free_program(program);
	free_program(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_anywhere),	       cmocka_unit_test(test_trace_that_grows),
		cmocka_unit_test(test_chunks_are_thrown_away), cmocka_unit_test(test_damage_is_refused),
		cmocka_unit_test(test_foreign_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
