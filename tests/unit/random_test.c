/* SPDX-License-Identifier: Apache-2.0 */
/* The heap model against a naive one, on random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "naive.h"

static void compare_sites(const struct naive *naive, const struct tpa_process *process)
{
	size_t i;

	for (i = 0; i < SITES; i++) {
		const struct tpa_site *site = site_of(process, (uint32_t)i);
		const struct naive_site *other = &naive->sites[i];

		assert_int_equal(site->allocations, other->allocations);
		assert_int_equal(site->frees, other->frees);
		assert_int_equal(site->bytes, other->bytes);
		assert_int_equal(site->peak_bytes, other->peak_bytes);
		assert_int_equal(site->peak_blocks, other->peak_blocks);
		assert_int_equal(site->peak_usable, other->peak_usable);
		assert_int_equal(site->live_bytes, other->live_bytes);
		assert_int_equal(site->live_blocks, other->live_blocks);
		assert_int_equal(site->live_usable, other->live_usable);
		assert_int_equal(site->temporary, other->temporary);
		assert_int_equal(site->short_lived, other->short_lived);
		assert_int_equal(site->largest, other->largest);
	}
}

static void compare_maps(const struct naive *naive, const struct tpa_process *process)
{
	uint64_t calls[SITES] = { 0 }, live = 0;
	size_t i;

	assert_int_equal(process->heap.mapped_peak, naive->mapped_peak);
	for (i = 0; i < process->map_site_count; i++) {
		const struct tpa_map_site *site = &process->map_sites[i];
		uint32_t number = tpa_trace_file_node(process->trace, site->node) - TPROF_NODE_FIRST;
		const struct naive_site *other = &naive->sites[number];

		assert_int_equal(site->calls, other->map_calls);
		assert_int_equal(site->bytes, other->map_bytes);
		assert_int_equal(site->live_bytes, other->map_live);
		assert_int_equal(site->peak_bytes, other->map_peak);
		assert_false(site->file);
		calls[number] = site->calls;
		live += site->live_bytes;
	}
	for (i = 0; i < SITES; i++)
		assert_int_equal(calls[i], naive->sites[i].map_calls);
	assert_int_equal(process->heap.mapped_end, live);
}

static void compare_timeline(const struct tpa_process *process, uint32_t points)
{
	uint64_t largest = 0;
	size_t i;

	assert_true(process->point_count <= points);
	for (i = 0; i < process->point_count; i++) {
		if (process->timeline[i].live_bytes > largest)
			largest = process->timeline[i].live_bytes;
		if (i)
			assert_true(process->timeline[i].time_ns >= process->timeline[i - 1].time_ns);
	}
	assert_int_equal(largest, process->heap.peak_bytes);
}

static void compare(const struct program *program, const struct tpa_process *process, uint64_t from, uint64_t to)
{
	struct naive *naive = calloc(1, sizeof(*naive));

	assert_non_null(naive);
	naive_heap(program, naive, from, to);
	compare_sites(naive, process);
	assert_int_equal(process->heap.peak_bytes, naive->peak_bytes);
	if (!from && to == UINT64_MAX) {
		naive_maps(program, naive);
		compare_maps(naive, process);
		assert_int_equal(process->heap.peak_time_ns, naive->peak_time - 1000000);
		assert_int_equal(process->heap.failed_reallocs, program->failed_reallocs);
	}
	assert_int_equal(process->heap.unmatched_frees, 0);
	assert_int_equal(process->heap.reordered, 0);
	assert_int_equal(process->heap.implied_frees, 0);
	free(naive);
}

static void test_random_programs(void **state)
{
	unsigned seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		struct program *program = random_program(seed, seed % 3 ? 4096 : 65536);
		struct replayed replayed;
		const struct tpa_process *process = replay_gen(&replayed, program->gen);

		compare(program, process, 0, UINT64_MAX);
		compare_timeline(process, 512);
		close_replayed(&replayed);
		free_program(program);
	}
}

static void test_random_windows(void **state)
{
	unsigned seed;

	(void)state;
	for (seed = 100; seed < 130; seed++) {
		struct program *program = random_program(seed, 4096);
		uint64_t length = program->now - 1000000;
		struct tpa_replay_options options = { .from_ns = length / 3,
						      .to_ns = length / 4 * 3,
						      .timeline_points = 16 };
		struct replayed replayed = { 0 };
		uint64_t at_start;
		size_t before = 0;

		add_trace(&replayed, program->gen);
		replay(&replayed, &options);
		while (before < program->count && program->ops[before].time < 1000000 + options.from_ns)
			before++;
		at_start = before ? naive_live(program, before - 1, NULL, 0) : 0;
		/* A peak at the very begin is what was live then: the naive one only knows events. */
		if (replayed.run->processes[0].heap.peak_bytes > at_start)
			compare(program, &replayed.run->processes[0], 1000000 + options.from_ns,
				1000000 + options.to_ns);
		else
			assert_int_equal(replayed.run->processes[0].heap.peak_bytes, at_start);
		compare_timeline(&replayed.run->processes[0], 16);
		close_replayed(&replayed);
		free_program(program);
	}
}

/* With ticks so coarse that many events share one, totals stay exact; only what lies within a tick is lost. */
static void test_coarse_ticks(void **state)
{
	unsigned seed, i;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		struct gen_options options = { .tick_shift = 8, .start_ticks = 1 << 20 };
		struct gen *gen = gen_with_sites(&options);
		struct program random = { .seed = seed };
		uint64_t owner[8] = { 0 }, last[8][2] = { { 0 } }, now = options.start_ticks, live = 0;
		struct replayed replayed;
		const struct tpa_process *process;

		/* Eight addresses that all threads share: each is freed by one and taken by another at once. */
		for (i = 0; i < 4000; i++) {
			unsigned slot = pick(&random, 8), thread = 1 + pick(&random, 4);

			now += 1 + pick(&random, 60);
			/* Nothing is so fast that an address changes hands twice in a tick. */
			if (last[slot][0] >> options.tick_shift == now >> options.tick_shift)
				continue;
			last[slot][0] = last[slot][1];
			last[slot][1] = now;
			if (owner[slot])
				do_free(gen, thread, now, 0x1000 + slot * 64);
			else
				do_alloc(gen, thread, now, 0x1000 + slot * 64, 10, slot);
			live += owner[slot] ? (uint64_t)-10 : 10;
			owner[slot] = !owner[slot];
		}
		process = replay_gen(&replayed, gen);
		assert_int_equal(process->heap.allocations - process->heap.frees, process->heap.end_blocks);
		assert_int_equal(process->heap.end_bytes, live);
		assert_int_equal(process->heap.unmatched_frees, 0);
		assert_int_equal(process->heap.implied_frees, 0);
		assert_true(process->heap.peak_bytes <= 80);
		close_replayed(&replayed);
		gen_free(gen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_random_windows),
		cmocka_unit_test(test_coarse_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
