/* SPDX-License-Identifier: Apache-2.0 */
/* A history against a naive model, on random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/replay/history.h"
#include "naive.h"

#define START 1000000 /* of the programs, ticks of a nanosecond */

/* The site of the program that a site of the history is. */
static uint32_t number_of(const struct tpa_process *process, const struct tpa_history_site *site)
{
	return tpa_trace_file_node(process->trace, site->node) - TPROF_NODE_FIRST;
}

/* How many of the program's events come before a look; the last one is behind them all. */
static size_t events_before(const struct program *program, const struct tpa_history *history, size_t look)
{
	size_t count = 0;

	if (look == history->look_count - 1)
		return program->count;
	while (count < program->count && program->ops[count].time - START < history->looks_ns[look])
		count++;
	return count + (look == history->peak_look);
}

struct sums {
	int64_t live_bytes, live_blocks;
	uint64_t bytes, allocations, temporary;
};

static void add_interval(const struct tpa_process *process, const struct tpa_history *history, size_t interval,
			 struct sums *sums)
{
	for (size_t i = interval ? history->changes.ends[interval - 1] : 0; i < history->changes.ends[interval]; i++) {
		const struct tpa_history_change *change = &history->changes.list[i];
		struct sums *of = &sums[number_of(process, &history->sites[change->site])];

		of->live_bytes += change->live_bytes;
		of->live_blocks += change->live_blocks;
		of->bytes += change->bytes;
		of->allocations += change->allocations;
		of->temporary += change->temporary;
	}
}

static void compare_look(const struct program *program, const struct tpa_history *history, size_t look,
			 const struct sums *sums)
{
	struct naive_site sites[SITES] = { 0 };
	uint64_t bytes[SITES] = { 0 }, allocations[SITES] = { 0 };
	size_t count = events_before(program, history, look);

	if (count)
		naive_live(program, count - 1, sites, 0);
	for (size_t i = 0; i < count; i++) {
		if (program->ops[i].kind != OP_ALLOC)
			continue;
		bytes[program->ops[i].site] += program->ops[i].size;
		allocations[program->ops[i].site]++;
	}
	for (size_t i = 0; i < SITES; i++) {
		assert_int_equal(sums[i].live_bytes, sites[i].live_bytes);
		assert_int_equal(sums[i].live_blocks, sites[i].live_blocks);
		assert_int_equal(sums[i].bytes, bytes[i]);
		assert_int_equal(sums[i].allocations, allocations[i]);
	}
}

static void compare_sites(const struct program *program, const struct tpa_process *process,
			  const struct tpa_history *history, const struct sums *sums)
{
	struct naive *naive = calloc(1, sizeof(*naive));

	assert_non_null(naive);
	naive_heap(program, naive, 0, UINT64_MAX);
	for (size_t i = 0; i < history->site_count; i++) {
		const struct tpa_history_site *site = &history->sites[i];
		const struct naive_site *other;

		if (!site->allocations)
			continue;
		other = &naive->sites[number_of(process, site)];
		assert_int_equal(site->peak_bytes, other->peak_bytes);
		assert_int_equal(site->peak_blocks, other->peak_blocks);
		assert_int_equal(site->end_bytes, other->live_bytes);
		assert_int_equal(site->end_blocks, other->live_blocks);
		assert_int_equal(site->bytes, other->bytes);
		assert_int_equal(site->temporary, other->temporary);
		assert_int_equal(sums[number_of(process, site)].temporary, other->temporary);
	}
	free(naive);
}

/* The look at the peak has what was alive right then. */
static void compare_peak(const struct tpa_process *process, const struct tpa_history *history, const struct sums *sums)
{
	assert_int_equal(history->looks_ns[history->peak_look], process->heap.peak_time_ns);
	for (size_t i = 0; i < history->site_count; i++)
		if (history->sites[i].allocations)
			assert_int_equal(sums[number_of(process, &history->sites[i])].live_bytes,
					 history->sites[i].peak_bytes);
}

static void test_random_programs(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 30; seed++) {
		struct program *program = random_program(seed, 4096);
		const struct tpa_history_limits limits = { 2 + seed % 40, 10 };
		const struct tpa_replay_options options = { 0 };
		struct replayed replayed;
		const struct tpa_process *process = replay_gen(&replayed, program->gen);
		struct tpa_history *history = tpa_history_make(replayed.traces[0], process, &options, &limits);
		struct sums sums[SITES] = { 0 };

		assert_int_equal(history->look_count, limits.looks + 1);
		assert_true(history->peak_look < history->look_count);
		for (size_t look = 0; look < history->look_count; look++) {
			if (look)
				add_interval(process, history, look - 1, sums);
			compare_look(program, history, look, sums);
			if (look == history->peak_look)
				compare_peak(process, history, sums);
		}
		compare_sites(program, process, history, sums);
		tpa_history_free(history);
		close_replayed(&replayed);
		free_program(program);
	}
}

/* What was live before the time that is looked at is in no interval; the rest is. */
static void test_windows(void **state)
{
	(void)state;
	for (unsigned seed = 50; seed < 70; seed++) {
		struct program *program = random_program(seed, 4096);
		uint64_t length = program->now - START;
		const struct tpa_history_limits limits = { 20, 10 };
		const struct tpa_replay_options options = { .from_ns = length / 3, .to_ns = length / 4 * 3 };
		struct replayed replayed = { 0 };
		struct tpa_history *history;
		struct sums sums[SITES] = { 0 };
		const struct tpa_process *process;
		size_t count = 0;
		uint64_t live = 0, expected;

		add_trace(&replayed, program->gen);
		replay(&replayed, &options);
		process = &replayed.run->processes[0];
		history = tpa_history_make(replayed.traces[0], process, &options, &limits);
		assert_int_equal(history->looks_ns[0], options.from_ns);
		for (size_t i = 0; i + 1 < history->look_count; i++)
			add_interval(process, history, i, sums);
		for (size_t i = 0; i < history->site_count; i++)
			live += (uint64_t)history->sites[i].begin_bytes;
		for (size_t i = 0; i < SITES; i++)
			live += (uint64_t)sums[i].live_bytes;
		while (count < program->count && program->ops[count].time - START <= options.to_ns)
			count++;
		expected = count ? naive_live(program, count - 1, NULL, 0) : 0;
		assert_int_equal(live, expected);
		tpa_history_free(history);
		close_replayed(&replayed);
		free_program(program);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
