/* SPDX-License-Identifier: Apache-2.0 */
/* The heap model in the cases that need care, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "model/replay/run.h"
#include "site_runs.h"

/* What most of the tests are about: one trace, and what became of it. */
struct one {
	struct gen *gen;
	struct replayed replayed;
};

static int begin(void **state)
{
	static struct one one;

	one = (struct one){ .gen = gen_with_sites(&(struct gen_options){ 0 }) };
	*state = &one;
	return 0;
}

static int end(void **state)
{
	struct one *one = *state;

	close_replayed(&one->replayed);
	gen_free(one->gen);
	return 0;
}

static void test_inherited(void **state)
{
	struct gen_options options = { .origin = TPROF_ORIGIN_FORK };
	struct replayed replayed;
	const struct tpa_process *process;
	struct gen *gen;
	int fork;

	(void)state;
	for (fork = 0; fork < 2; fork++) {
		options.origin = fork ? TPROF_ORIGIN_FORK : TPROF_ORIGIN_EXEC;
		gen = gen_with_sites(&options);
		do_free(gen, 1, 10, 0x1000);
		gen_release(gen, 1, 20, 0x2000, TPROF_FN_REALLOC);
		gen_cancel(gen, 1, 30);
		gen_release(gen, 1, 32, 0x3000, TPROF_FN_REALLOC);
		gen_memory(gen, 1, 34, 1 << 20, 1 << 21); /* between the two */
		gen_cancel(gen, 1, 36);
		do_alloc(gen, 1, 40, 0x1000, 100, 0);
		process = replay_gen(&replayed, gen);
		assert_int_equal(process->heap.inherited_frees, fork);
		assert_int_equal(process->heap.unmatched_frees, !fork);
		assert_int_equal(process->heap.frees, 0);
		assert_int_equal(process->heap.end_bytes, 100);
		close_replayed(&replayed);
		gen_free(gen);
	}
}

/* The free of an address arrives after its reuse by another thread. */
static void test_late_free(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	do_alloc(gen, 1, 1000, 0x1000, 100, 0);
	do_alloc(gen, 2, 2000, 0x1000, 30, 1);
	do_free(gen, 1, 2010, 0x1000);
	do_free(gen, 2, 3000, 0x1000);
	do_alloc(gen, 2, 4000, 0x1000, 7, 2);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.reordered, 1);
	assert_int_equal(process->heap.implied_frees, 0);
	assert_int_equal(process->heap.unmatched_frees, 0);
	assert_int_equal(process->heap.allocations, 3);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.peak_bytes, 100);
	assert_int_equal(process->heap.end_bytes, 7);
	assert_int_equal(site_of(process, 0)->frees, 1);
	assert_int_equal(site_of(process, 1)->frees, 1);
}

/* The free of a block is stamped a moment before the allocation by the thread that handed the block over. */
static void test_early_free(void **state)
{
	static const struct {
		uint64_t before;
		uint32_t thread;
		bool repaired;
	} cases[] = { { 0, 2, true }, { 34, 2, true }, { 9900, 2, true }, { 10100, 2, false }, { 34, 1, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gen *gen = gen_with_sites(&(struct gen_options){ 0 });
		struct replayed replayed;
		const struct tpa_process *process;

		do_free(gen, cases[i].thread, 50000 - cases[i].before, 0x1000);
		do_alloc(gen, 1, 50000, 0x1000, 100, 0);
		process = replay_gen(&replayed, gen);
		assert_int_equal(process->heap.reordered, cases[i].repaired);
		assert_int_equal(process->heap.unmatched_frees, !cases[i].repaired);
		assert_int_equal(process->heap.frees, cases[i].repaired);
		assert_int_equal(process->heap.end_bytes, cases[i].repaired ? 0 : 100);
		close_replayed(&replayed);
		gen_free(gen);
	}
}

/* The same, so early that it stands before the free that begins its owner's reallocation in place. */
static void test_free_before_reallocation(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	do_alloc(gen, 1, 1000, 0x1000, 100, 0);
	do_free(gen, 2, 2600, 0x1000);
	gen_release(gen, 1, 5016, 0x1000, TPROF_FN_REALLOC);
	do_alloc(gen, 1, 5034, 0x1000, 50, 1);
	do_alloc(gen, 2, 5300, 0x1000, 7, 2);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.unmatched_frees, 0);
	assert_int_equal(process->heap.implied_frees, 0);
	assert_int_equal(process->heap.reordered, 1);
	assert_int_equal(process->heap.allocations, 3);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.end_bytes, 7);
	assert_int_equal(process->heap.end_blocks, 1);
}

/* An address is allocated again, and its free is not in the trace at all. */
static void test_implied_free(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	do_alloc(gen, 1, 1000, 0x1000, 100, 0);
	do_alloc(gen, 2, 2000, 0x1000, 30, 1);
	do_free(gen, 1, 2000000000, 0x1000);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.implied_frees, 1);
	assert_int_equal(process->heap.reordered, 0);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.end_bytes, 0);
}

/* The free of an address comes first from the thread that reused it: that is its own, and the other's is not there. */
static void test_own_free(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	do_alloc(gen, 1, 1000, 0x1000, 100, 0);
	do_alloc(gen, 2, 2000, 0x1000, 30, 1);
	do_free(gen, 2, 2010, 0x1000);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.frees, 2);
	assert_int_equal(process->heap.implied_frees, 1);
	assert_int_equal(process->heap.reordered, 0);
	assert_int_equal(process->heap.end_bytes, 0);
}

/* A failed realloc while another thread reaches the peak: the block counts all the time. */
static void test_cancel_at_peak(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	do_alloc(gen, 1, 10, 0x1000, 900, 0);
	gen_release(gen, 1, 20, 0x1000, TPROF_FN_REALLOC);
	do_alloc(gen, 2, 30, 0x2000, 200, 1);
	do_free(gen, 2, 40, 0x2000);
	gen_cancel(gen, 1, 50);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.peak_bytes, 1100);
	assert_int_equal(process->heap.failed_reallocs, 1);
	assert_int_equal(process->heap.frees, 1);
	assert_int_equal(process->heap.end_bytes, 900);
}

static void test_remap(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	gen_map(gen, 1, 10, 0x10000, 0x4000, MAP_PRIVATE, NODE(0));
	gen_unmap(gen, 1, 20, 0x10000, 0x4000, true);
	gen_map(gen, 1, 30, 0x90000, 0x8000, TPROF_MAP_REMAP, NODE(1));
	gen_unmap(gen, 1, 40, 0x92000, 0x1000, false);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.mapped_peak, 0x8000);
	assert_int_equal(process->heap.mapped_end, 0x7000);
	assert_int_equal(process->heap.maps, 2);
	assert_int_equal(process->heap.unmaps, 2);
	assert_int_equal(process->map_site_count, 2);
	assert_true(process->map_sites[0].file && process->map_sites[1].file);
	assert_int_equal(process->map_sites[1].live_bytes, 0x7000);
}

static void test_groups_and_filter(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	struct tpa_replay_options options = { .group = TPA_GROUP_THREAD };
	size_t i;

	for (i = 0; i < 3000; i++) {
		do_alloc(gen, 1, 10 * i, 0x10000 + 0x1000 * i, 1 + i % 700, 0);
		do_alloc(gen, 2, 10 * i + 5, 0x10400 + 0x1000 * i, 1 + i % 7, 0);
	}
	gen_name(gen, 2, 40000, "loader");
	do_free(gen, 1, 40001, 0x10400);
	replay_gen(&one->replayed, gen);
	replay(&one->replayed, &options);
	assert_int_equal(one->replayed.run->processes[0].site_count, 2);
	assert_int_equal(one->replayed.run->processes[0].sites[1].key, 2);
	options.group = TPA_GROUP_SIZE;
	replay(&one->replayed, &options);
	assert_int_equal(one->replayed.run->processes[0].site_count, 700);
	options.group = TPA_GROUP_STACK;
	options.thread = 2;
	replay(&one->replayed, &options);
	assert_int_equal(one->replayed.run->processes[0].heap.allocations, 3000);
	assert_int_equal(one->replayed.run->processes[0].heap.frees, 1);
	assert_int_equal(one->replayed.run->processes[0].heap.unmatched_frees, 0);
	assert_string_equal(one->replayed.run->processes[0].threads[1].name, "loader");
}

/* Two processes that take turns: the peak of the sum is none of theirs. */
static void test_combined(void **state)
{
	struct gen_options first = { .start_ticks = 1000, .start_unix_ns = 1000000, .pid = 10 };
	struct gen_options second = { .start_ticks = 5000, .start_unix_ns = 1000500, .pid = 11 };
	struct gen *a = gen_with_sites(&first), *b = gen_with_sites(&second);
	struct replayed replayed = { 0 };

	(void)state;
	do_alloc(a, 1, 1100, 0x1000, 1000, 0); /* at 100 of the run */
	do_free(a, 1, 1400, 0x1000);
	do_alloc(a, 1, 1600, 0x1000, 600, 0); /* at 600: 600 + 500 = the peak */
	do_free(a, 1, 1900, 0x1000);
	do_alloc(b, 1, 5050, 0x1000, 500, 1); /* at 550 */
	do_free(b, 1, 5200, 0x1000);
	do_alloc(b, 1, 5500, 0x1000, 900, 1); /* at 1000 */
	add_trace(&replayed, b);
	add_trace(&replayed, a);
	replay(&replayed, NULL);
	assert_int_equal(replayed.run->process_count, 2);
	assert_int_equal(replayed.run->processes[0].trace->header->pid, 10);
	assert_int_equal(replayed.run->processes[1].start_ns, 500);
	assert_int_equal(replayed.run->peak_bytes, 1100);
	assert_int_equal(replayed.run->peak_time_ns, 600);
	assert_int_equal(replayed.run->processes[0].combined_peak_bytes, 600);
	assert_int_equal(replayed.run->processes[1].combined_peak_bytes, 500);
	assert_int_equal(replayed.run->processes[0].heap.peak_bytes, 1000);
	assert_int_equal(replayed.run->processes[1].heap.peak_time_ns, 1000);
	assert_int_equal(replayed.run->duration_ns, 1000);
	close_replayed(&replayed);
	gen_free(a);
	gen_free(b);
}

/*
 * Ended processes hold nothing: one that wrote its end, at that time; one that was killed, at the last moment that its trace
 * knows of. The one that ends last holds at the end what it has.
 */
static void test_combined_ends(void **state)
{
	struct gen *a =
		gen_with_sites(&(struct gen_options){ .start_ticks = 1000, .start_unix_ns = 1000000, .pid = 10 });
	struct gen *b =
		gen_with_sites(&(struct gen_options){ .start_ticks = 1100, .start_unix_ns = 1000100, .pid = 11 });
	struct gen *c =
		gen_with_sites(&(struct gen_options){ .start_ticks = 1100, .start_unix_ns = 1000100, .pid = 12 });
	const struct tpa_replay_options part = { .from_ns = 550, .to_ns = 800 };
	struct replayed replayed = { 0 };
	const struct tpa_run *run;

	(void)state;
	do_alloc(a, 1, 1100, 0x1000, 1000, 0);
	gen_memory(a, 1, 1110, 40960, 81920);
	gen_finish(a, 1500, 0); /* at 500 */
	do_alloc(b, 1, 1200, 0x1000, 500, 1);
	gen_memory(b, 1, 1210, 8192, 16384);
	gen_header(b)->latest = (struct tprof_moment){ 1600, 1600, 1000600 }; /* was killed after 600 of the run */
	do_alloc(c, 1, 1550, 0x1000, 300, 0);				      /* at 550: 500 + 300 */
	do_alloc(c, 1, 1650, 0x2000, 900, 0);				      /* at 650: 300 + 900 */
	gen_finish(c, 1900, 0);
	add_trace(&replayed, a);
	add_trace(&replayed, b);
	add_trace(&replayed, c);
	replay(&replayed, NULL);
	run = replayed.run;
	assert_int_equal(run->peak_bytes, 1500);
	assert_int_equal(run->peak_time_ns, 200);
	assert_int_equal(run->processes[1].duration_ns, 500);
	assert_int_equal(run->timeline[run->point_count - 1].live_bytes, 1200);
	assert_int_equal(run->timeline[run->point_count - 1].rss, 0);
	replay(&replayed, &part);
	run = replayed.run;
	assert_int_equal(run->peak_bytes, 1200);
	assert_int_equal(run->processes[0].combined_peak_bytes, 0);
	assert_int_equal(run->processes[1].combined_peak_bytes, 0);
	assert_int_equal(run->processes[2].combined_peak_bytes, 1200);
	close_replayed(&replayed);
	gen_free(a);
	gen_free(b);
	gen_free(c);
}

/*
 * The clock was set back by an hour before the child began: it is 500 behind its parent all the same. Of two that may be its
 * parent it is the one whose clocks say nearly so; a process that is not related stands where real time has it.
 */
static void test_clock_that_was_set(void **state)
{
	const uint64_t hour = UINT64_C(3600000000000), day = 24 * hour;
	struct gen *list[] = {
		gen_with_sites(&(struct gen_options){ .start_ticks = 5000, .start_unix_ns = day, .pid = 10 }),
		gen_with_sites(&(struct gen_options){ .start_ticks = 4000, .start_unix_ns = 9 * day, .pid = 10 }),
		gen_with_sites(&(struct gen_options){
			.origin = TPROF_ORIGIN_FORK, .start_ticks = 5500, .start_unix_ns = day - hour, .pid = 11 }),
		gen_with_sites(&(struct gen_options){ .origin = TPROF_ORIGIN_EXEC,
						      .start_ticks = 5700,
						      .start_unix_ns = day - hour + 200,
						      .pid = 11 }),
		gen_with_sites(&(struct gen_options){ .start_ticks = 1, .start_unix_ns = day + 900, .pid = 12 }),
	};
	static const uint64_t truth[] = { 0, 500, 700, 900, 8 * 24 * UINT64_C(3600000000000) };
	struct replayed replayed = { 0 };

	(void)state;
	gen_header(list[2])->ppid = 10;
	gen_header(list[3])->ppid = 1; /* its parent ended */
	for (size_t i = 0; i < 5; i++)
		add_trace(&replayed, list[4 - i]);
	replay(&replayed, NULL);
	assert_int_equal(replayed.run->process_count, 5);
	assert_int_equal(replayed.run->start_unix_ns, day);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(replayed.run->processes[i].start_ns, truth[i]);
	close_replayed(&replayed);
	for (size_t i = 0; i < 5; i++)
		gen_free(list[i]);
}

/* Usable sizes beyond 32 bits, and numbers that no program has. */
static void test_huge(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	struct gen_alloc large = {
		.address = 0x1000, .size = UINT64_C(20) << 30, .usable = UINT64_C(24) << 30, .node = NODE(0)
	};
	struct gen_alloc absurd = { .address = 0x2000, .size = UINT64_MAX / 2, .usable = UINT64_MAX, .node = NODE(1) };
	const struct tpa_process *process;

	gen_alloc(gen, 1, 10, &large);
	gen_alloc(gen, 1, 20, &absurd);
	do_free(gen, 1, 30, 0x2000);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->heap.end_usable, UINT64_C(24) << 30);
	assert_int_equal(process->heap.end_bytes, UINT64_C(20) << 30);
}

/* Marks have their time, their thread and their text; a million of them are counted, and the first ones kept. */
static void test_marks(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	struct tpa_replay_options options = { .thread = 2 };
	const struct tpa_process *process;

	gen_mark(gen, 1, 100, "loaded");
	gen_mark(gen, 2, 200, "");
	for (uint64_t i = 0; i < TPA_MARKS_MAX; i++)
		gen_mark(gen, 1, 1000 + i, "epoch");
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->marks.all, TPA_MARKS_MAX + 2);
	assert_int_equal(process->marks.count, TPA_MARKS_MAX);
	assert_string_equal(process->marks.list[0].text, "loaded");
	assert_int_equal(process->marks.list[0].time_ns, 100);
	assert_int_equal(process->marks.list[0].thread, 1);
	assert_string_equal(process->marks.list[1].text, "");
	assert_int_equal(process->marks.list[TPA_MARKS_MAX - 1].time_ns, 1000 + TPA_MARKS_MAX - 3);
	replay(&one->replayed, &options);
	assert_int_equal(one->replayed.run->processes[0].marks.all, 1);
	assert_int_equal(one->replayed.run->processes[0].marks.list[0].time_ns, 200);
}

/* A pause that goes on lasts to the process's end, not to the last event; and the kernel's count of RSS is the whole run's. */
static void test_to_the_end(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	struct tpa_replay_options part = { .from_ns = 50 }, other = { .to_ns = 400 };
	const struct tpa_process *process;

	do_alloc(gen, 1, 100, 0x1000, 10, 1);
	gen_memory(gen, 1, 110, 8192, 40960);
	gen_plain(gen, 1, 200, TPROF_EVENT_PAUSE);
	gen_header(gen)->rss_peak = 12288;
	gen_finish(gen, 1000, 0);
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->duration_ns, 1000);
	assert_int_equal(process->paused_ns, 800);
	assert_int_equal(process->heap.rss_peak, 12288);
	replay(&one->replayed, &part);
	assert_int_equal(one->replayed.run->processes[0].heap.rss_peak, 8192);
	replay(&one->replayed, &other);
	assert_int_equal(one->replayed.run->processes[0].heap.rss_peak, 8192);
}

/* A sample may be larger than what the kernel says at the end; a process that did not end lasted to its last event. */
static void test_without_an_end(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process;

	gen_memory(gen, 1, 110, 16384, 40960);
	gen_plain(gen, 1, 200, TPROF_EVENT_PAUSE);
	do_free(gen, 1, 300, 0x1000);
	gen_header(gen)->rss_peak = 12288;
	gen_header(gen)->finish.ticks = 1000; /* that it has not: END_NONE */
	process = replay_gen(&one->replayed, gen);
	assert_int_equal(process->duration_ns, 300);
	assert_int_equal(process->paused_ns, 100);
	assert_int_equal(process->heap.rss_peak, 16384);
}

static void test_empty(void **state)
{
	struct one *one = *state;
	struct gen *gen = one->gen;
	const struct tpa_process *process = replay_gen(&one->replayed, gen);

	assert_int_equal(process->heap.events, 0);
	assert_int_equal(process->point_count, 0);
	assert_int_equal(process->site_count, 0);
	close_replayed(&one->replayed);
	replay(&one->replayed, NULL);
	assert_int_equal(one->replayed.run->process_count, 0);
}

#define OF_ONE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inherited),
		OF_ONE(test_late_free),
		OF_ONE(test_own_free),
		cmocka_unit_test(test_early_free),
		OF_ONE(test_free_before_reallocation),
		OF_ONE(test_implied_free),
		OF_ONE(test_cancel_at_peak),
		OF_ONE(test_remap),
		OF_ONE(test_groups_and_filter),
		cmocka_unit_test(test_combined),
		cmocka_unit_test(test_combined_ends),
		cmocka_unit_test(test_clock_that_was_set),
		OF_ONE(test_huge),
		OF_ONE(test_marks),
		OF_ONE(test_to_the_end),
		OF_ONE(test_without_an_end),
		OF_ONE(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
