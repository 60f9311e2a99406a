/* SPDX-License-Identifier: Apache-2.0 */
/* Ops and steps of the model, against truth that was computed by hand; the statistics, against a naive computation. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/stats/histogram.h"
#include "model/replay/run.h"
#include "model/steps/steps.h"
#include "model/stats/student.h"
#include "replayed.h"

static struct gen *new_gen(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });

	gen_op(gen, 1, TPROF_OP_ANNOTATION, "layer", "outer");
	gen_op(gen, 2, TPROF_OP_ANNOTATION, "", "inner");
	gen_op(gen, 3, TPROF_OP_ANNOTATION, "layer", "outer"); /* a second number of the same op */
	return gen;
}

/* outer [100, 200] with inner [110, 130] and [140, 170], twice; the two numbers of outer are one op. */
static void test_nesting(void **state)
{
	struct gen *gen = new_gen();
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t t = 1000 * i;

		gen_op_begin(gen, 1, t + 100, i ? 3 : 1);
		gen_op_begin(gen, 1, t + 110, 2);
		gen_op_end(gen, 1, t + 130, false);
		gen_op_begin(gen, 1, t + 140, 2);
		gen_op_end(gen, 1, t + 170, i);
		gen_op_end(gen, 1, t + 200 + 10 * i, false);
	}
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->op_count, 2);
	assert_int_equal(replayed.process->op_counts.events, 12);
	op = &replayed.process->ops[0];
	assert_string_equal(op->name, "outer");
	assert_string_equal(op->category, "layer");
	assert_int_equal(op->calls, 2);
	assert_int_equal(op->total_ns, 210);
	assert_int_equal(op->self_ns, 110);
	assert_int_equal(op->first_ns, 100);
	assert_int_equal((int)op->mean_ns, 110);
	op = &replayed.process->ops[1];
	assert_int_equal(op->calls, 4);
	assert_int_equal(op->unwound, 1);
	assert_int_equal(op->total_ns, 100);
	assert_int_equal(op->self_ns, 100);
	assert_int_equal(op->first_ns, 20);
	assert_true(fabs(op->mean_ns - 80.0 / 3) < 1e-9);
	assert_int_equal(op->min_ns, 20);
	assert_int_equal(op->p50_ns, 20);
	assert_int_equal(op->p90_ns, 30);
	assert_int_equal(op->max_ns, 30);
	assert_true(fabs(tpa_moments_deviation(&op->durations) - sqrt(100.0 / 3)) < 1e-9);
	done(&replayed);
}

/* around [50, 400] has first [100, 200], second [120, 260] and third [150, 300]: each ends before what began in it. */
static void test_interleaved(void **state)
{
	static const struct {
		const char *name;
		uint64_t total, self, allocated, peak;
	} wanted[] = { { "around", 350, 150, 1110, 1110 },
		       { "first", 100, 20, 110, 110 },
		       { "second", 140, 30, 1100, 1100 },
		       { "third", 150, 150, 1000, 1000 } };
	struct gen *gen = gen_new(&(struct gen_options){ .start_ticks = 0 });
	struct replayed replayed;

	(void)state;
	gen_header(gen)->features_required = TPROF_FEATURE_OUTER_ENDS;
	for (uint32_t i = 0; i < 4; i++)
		gen_op(gen, i + 1, TPROF_OP_ANNOTATION, "", wanted[i].name);
	gen_op_begin(gen, 1, 50, 1);
	gen_op_begin(gen, 1, 100, 2);
	allocate(gen, 1, 110, 0x1000, 10);
	gen_op_begin(gen, 1, 120, 3);
	allocate(gen, 1, 130, 0x2000, 100);
	gen_op_begin(gen, 1, 150, 4);
	gen_op_end_outer(gen, 1, 200, 2);
	allocate(gen, 1, 210, 0x3000, 1000);
	gen_op_end_outer(gen, 1, 260, 1);
	gen_op_end(gen, 1, 300, false);
	gen_op_end(gen, 1, 400, false);
	gen_op_end_outer(gen, 1, 410, 7);
	replayed = replay(gen, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		const struct tpa_op_stats *op = op_named(&replayed, wanted[i].name);

		assert_int_equal(op->calls, 1);
		assert_int_equal(op->total_ns, wanted[i].total);
		assert_int_equal(op->self_ns, wanted[i].self);
		assert_int_equal(op->allocated_bytes, wanted[i].allocated);
		assert_int_equal(op->peak_bytes, wanted[i].peak);
	}
	assert_int_equal(replayed.process->op_counts.unmatched_ends, 1);
	done(&replayed);
}

/* inner calls itself: total and memory count once, self times add up. */
static void test_recursion(void **state)
{
	struct gen *gen = new_gen();
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	gen_op_begin(gen, 1, 100, 2);
	allocate(gen, 1, 110, 0x1000, 10);
	gen_op_begin(gen, 1, 120, 2);
	allocate(gen, 1, 130, 0x2000, 100);
	gen_op_begin(gen, 1, 140, 2);
	allocate(gen, 1, 150, 0x3000, 1000);
	gen_op_end(gen, 1, 160, false);
	gen_op_end(gen, 1, 180, true);
	gen_op_end(gen, 1, 300, true);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "inner");
	assert_int_equal(op->calls, 3);
	assert_int_equal(op->unwound, 2);
	assert_int_equal(op->total_ns, 200);
	assert_int_equal(op->self_ns, 200);
	assert_int_equal(op->min_ns, 20);
	assert_int_equal(op->max_ns, 200);
	assert_int_equal(op->allocated_bytes, 1110);
	assert_int_equal(op->self_allocated_bytes, 1110);
	assert_int_equal(op->net_bytes, 1110);
	assert_int_equal(op->peak_bytes, 1110);
	done(&replayed);
}

/* What was seen of the process's memory stands between a realloc's free and the word that it failed: all is taken back. */
static void test_failed_realloc(void **state)
{
	struct gen *gen = new_gen();
	const struct tpa_process *process;
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	gen_op_begin(gen, 1, 100, 1);
	allocate(gen, 1, 110, 0x1000, 100);
	gen_release(gen, 1, 120, 0x1000, TPROF_FN_REALLOC);
	gen_memory(gen, 1, 125, 1 << 20, 1 << 21);
	gen_cancel(gen, 1, 130);
	gen_op_end(gen, 1, 200, false);
	replayed = replay(gen, NULL);
	process = replayed.process;
	op = op_named(&replayed, "outer");
	assert_int_equal(op->allocated_bytes, 100);
	assert_int_equal(op->net_bytes, 100);
	assert_int_equal(process->heap.failed_reallocs, 1);
	assert_int_equal(process->heap.end_bytes, 100);
	assert_int_equal(process->heap.frees + process->heap.temporary + process->heap.short_lived, 0);
	assert_int_equal(process->thread_count, 1);
	assert_int_equal(process->threads[0].frees, 0);
	assert_int_equal(process->site_count, 1);
	assert_int_equal(process->sites[0].temporary + process->sites[0].short_lived, 0);
	done(&replayed);
}

/* Allocations inside of nested ops: inclusive, self, net and peak; and the ops of the sites. */
static void test_memory(void **state)
{
	struct gen *gen = new_gen();
	uint64_t of_outer = 0, of_inner = 0, of_none = 0;
	const struct tpa_op_stats *op;
	struct replayed replayed;

	(void)state;
	allocate(gen, 1, 50, 0x9000, 7);
	gen_op_begin(gen, 1, 100, 1);
	allocate(gen, 1, 110, 0x1000, 100); /* outer +100 */
	gen_op_begin(gen, 1, 120, 2);
	allocate(gen, 1, 130, 0x2000, 1000); /* outer +1100, inner +1000: outer's peak */
	gen_release(gen, 1, 135, 0x1000, TPROF_FN_FREE);
	gen_release(gen, 1, 140, 0x2000, TPROF_FN_FREE);
	allocate(gen, 1, 145, 0x3000, 30); /* outer +30, inner -70 */
	gen_op_end(gen, 1, 150, false);
	gen_release(gen, 1, 160, 0x9000, TPROF_FN_REALLOC); /* fails: nothing happened */
	gen_cancel(gen, 1, 161);
	gen_release(gen, 1, 170, 0x9000, TPROF_FN_FREE); /* outer +23 */
	allocate(gen, 2, 175, 0x5000, 5000);		 /* another thread's */
	gen_op_end(gen, 1, 200, false);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "outer");
	assert_int_equal(op->allocated_bytes, 1130);
	assert_int_equal(op->self_allocated_bytes, 100);
	assert_int_equal(op->net_bytes, 23);
	assert_int_equal(op->peak_bytes, 1100);
	op = op_named(&replayed, "inner");
	assert_int_equal(op->allocated_bytes, 1030);
	assert_int_equal(op->self_allocated_bytes, 1030);
	assert_int_equal(op->net_bytes, -70);
	assert_int_equal(op->peak_bytes, 1000);
	for (size_t i = 0; i < replayed.process->site_count; i++) {
		const struct tpa_site *site = &replayed.process->sites[i];
		const char *name = tpa_process_op_name(replayed.process, site->op);

		*(!name ? &of_none : name[0] == 'o' ? &of_outer : &of_inner) += site->bytes;
	}
	assert_int_equal(of_none, 5007);
	assert_int_equal(of_outer, 100);
	assert_int_equal(of_inner, 1030);
	assert_int_equal(replayed.process->heap.peak_bytes, 5030);
	assert_int_equal(replayed.process->threads[0].op_ns, 100); /* of the outermost one alone */
	done(&replayed);
}

/*
 * Two threads at once, chunks that end and are taken over, an op across a chunk's border, an end without a begin, a
 * begin without an end.
 */
static void test_threads(void **state)
{
	struct gen *gen = new_gen();
	const struct tpa_op_stats *op;
	struct replayed replayed;
	uint64_t t = 1000;

	(void)state;
	gen_op_end(gen, 2, 500, false);
	gen_op_begin(gen, 1, t, 1);
	for (uint32_t i = 0; i < 2000; i++) { /* several chunks of each */
		gen_op_begin(gen, 1, t += 10, 2);
		gen_op_begin(gen, 2, t + 1, 1);
		gen_op_end(gen, 1, t += 10, false);
		gen_op_end(gen, 2, t + 1, false);
	}
	gen_op_end(gen, 1, t += 10, false);
	gen_op_begin(gen, 2, t += 10, 2);
	gen_end_thread(gen, 1);
	gen_op_begin(gen, 3, t += 10, 2);
	gen_op_end(gen, 3, t + 10, false);
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->op_counts.unmatched_ends, 1);
	op = op_named(&replayed, "outer");
	assert_int_equal(op->calls, 2001);
	assert_int_equal(op->open, 0);
	assert_int_equal(op->total_ns, 40010 + 2000 * 10);
	assert_int_equal(op->self_ns, 20010 + 2000 * 10);
	op = op_named(&replayed, "inner");
	assert_int_equal(op->calls, 2001);
	assert_int_equal(op->open, 1);
	assert_int_equal(op->total_ns, 2001 * 10);
	done(&replayed);

	gen = new_gen();
	gen_op_begin(gen, 1, 10, 2);
	gen_op_begin(gen, 2, 20, 2);
	gen_op_end(gen, 2, 25, false);
	gen_op_end(gen, 1, 40, false);
	replayed = replay(gen, &(struct tpa_replay_options){ .thread = 2 });
	assert_int_equal(op_named(&replayed, "inner")->calls, 1);
	assert_int_equal(op_named(&replayed, "inner")->total_ns, 5);
	done(&replayed);
}

/* More shapes than are kept apart; more open ops than a stack holds; a number without a name. */
static void test_bounds(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 20 });
	const struct tpa_op_stats *op;
	struct replayed replayed;
	uint64_t t = 1000;

	(void)state;
	gen_op(gen, 1, TPROF_OP_ANNOTATION, "", "op");
	for (uint32_t i = 0; i < 100; i++) {
		char shape[16];

		snprintf(shape, sizeof(shape), "%ux4", i);
		gen_op_begin(gen, 1, ++t, 1);
		gen_detail(gen, 1, ++t, 8, 3, shape);
		gen_op_end(gen, 1, ++t, false);
	}
	for (uint32_t i = 0; i < 1500; i++)
		gen_op_begin(gen, 2, ++t, 77);
	for (uint32_t i = 0; i < 1501; i++)
		gen_op_end(gen, 2, ++t, false);
	replayed = replay(gen, NULL);
	op = op_named(&replayed, "op");
	assert_int_equal(op->flop, 800);
	assert_int_equal(op->bytes, 300);
	assert_int_equal(op->shape_count, 65);
	assert_string_equal(op->shapes[0].text, "0x4");
	assert_int_equal(op->shapes[0].calls, 1);
	assert_int_equal(op->shapes[0].flop, 8);
	assert_int_equal(op->shapes[0].total_ns, 2);
	assert_null(op->shapes[64].text);
	assert_int_equal(op->shapes[64].calls, 36);
	assert_int_equal(op_named(&replayed, "(unnamed)")->calls, 1024);
	assert_int_equal(replayed.process->op_counts.nameless, 1024);
	assert_int_equal(replayed.process->op_counts.too_deep, 476);
	assert_int_equal(replayed.process->op_counts.unmatched_ends, 1);
	done(&replayed);
}

/* Steps of 100, 20, 30, 40 ns; memory of each. */
static void test_steps(void **state)
{
	struct gen *gen = new_gen();
	struct tpa_replay_options by_step = { .group = TPA_GROUP_STEP };
	const struct tpa_step_stats *steps;
	struct replayed replayed;

	(void)state;
	allocate(gen, 1, 10, 0x1000, 100);
	gen_step(gen, 1, 100, 32);
	allocate(gen, 2, 105, 0x2000, 500);
	gen_release(gen, 1, 110, 0x2000, TPROF_FN_FREE);
	gen_step(gen, 1, 120, 32);
	allocate(gen, 1, 130, 0x3000, 7);
	gen_step(gen, 1, 150, 32);
	gen_step(gen, 1, 190, 0);
	allocate(gen, 1, 195, 0x4000, 1);
	replayed = replay(gen, &by_step);
	steps = &replayed.process->steps;
	assert_int_equal(steps->count, 4);
	assert_int_equal(steps->items, 96);
	assert_int_equal(steps->first_ns, 100);
	assert_int_equal((int)steps->durations.mean, 30);
	assert_int_equal(steps->min_ns, 20);
	assert_int_equal(steps->p50_ns, 30);
	assert_int_equal(steps->max_ns, 40);
	assert_int_equal(steps->list_count, 4);
	assert_int_equal(steps->list[1].first, 2);
	assert_int_equal(steps->list[1].begin_bytes, 100);
	assert_int_equal(steps->list[1].high_bytes, 600);
	assert_int_equal(steps->list[1].end_bytes, 100);
	assert_int_equal(steps->list[2].end_bytes, 107);
	assert_int_equal(steps->list[3].high_bytes, 107);
	assert_int_equal(replayed.process->site_count, 4); /* steps 1, 2, 3 and what came after the last */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(replayed.process->sites[i].key, i == 3 ? 5 : i + 1);
	done(&replayed);
}

/* Of a step of test_many_steps: bytes that are live in it alone. */
static uint64_t within(uint64_t step)
{
	return step * 7919 % 10007 + 1;
}

/* Ten thousand steps, each 10 ns longer than the one before: put together, but none is missing, nor what was its own. */
static void test_many_steps(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ .chunk_size = 1 << 20 });
	uint64_t t = 0, number = 1, end = 0;
	struct replayed replayed;

	(void)state;
	for (uint32_t i = 1; i <= 10000; i++) {
		allocate(gen, 1, t + 1, 0x1000, within(i));
		gen_release(gen, 1, t + 2, 0x1000, TPROF_FN_FREE);
		gen_step(gen, 1, t += 10 * i, 1);
	}
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->steps.count, 10000);
	assert_in_range(replayed.process->steps.list_count, 2048, TPA_STEP_MAX);
	assert_true(fabs(replayed.process->steps.durations.mean - 50010) < 1e-6);
	for (size_t i = 0; i < replayed.process->steps.list_count; i++) {
		const struct tpa_step *step = &replayed.process->steps.list[i];
		uint64_t high = 0;

		assert_int_equal(step->first, number);
		assert_int_equal(step->begin_ns, end);
		assert_int_equal(step->items, step->steps);
		for (uint64_t k = number; k < number + step->steps; k++)
			high = within(k) > high ? within(k) : high;
		assert_int_equal(step->high_bytes, high);
		number += step->steps;
		end = step->end_ns;
	}
	assert_int_equal(number, 10001);
	assert_int_equal(end, t);
	assert_int_equal(tpa_step_key_span(4095), 1);
	assert_int_equal(tpa_step_key_span(4096), 2);
	assert_int_equal(tpa_step_key_span(8192), 4);
	done(&replayed);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Random durations over many orders of magnitude: exact up to 64, and then within half a bucket. */
static void test_statistics(void **state)
{
	static const double shares[] = { 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	static uint64_t values[20000];
	uint64_t seed = 1;

	(void)state;
	for (size_t count = 1; count <= 20000; count = count * 7 / 4 + 1) {
		struct tpa_histogram histogram = { 0 };
		struct tpa_moments moments = { 0 };
		double mean = 0, squares = 0;

		for (size_t i = 0; i < count; i++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			values[i] = seed >> (1 + (seed >> 20 & 62));
			tpa_histogram_add(&histogram, values[i]);
			tpa_moments_add(&moments, (double)values[i]);
			mean += (double)values[i] / (double)count;
		}
		for (size_t i = 0; i < count; i++)
			squares += ((double)values[i] - mean) * ((double)values[i] - mean);
		assert_true(fabs(moments.mean - mean) <= 1e-9 * mean);
		if (count > 1)
			assert_true(fabs(tpa_moments_deviation(&moments) - sqrt(squares / (double)(count - 1))) <=
				    1e-9 * sqrt(squares));
		qsort(values, count, sizeof(*values), by_value);
		assert_int_equal(histogram.min, values[0]);
		assert_int_equal(histogram.max, values[count - 1]);
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
			uint64_t truth = values[(size_t)ceil(shares[i] * (double)count) - 1];
			uint64_t got = tpa_histogram_percentile(&histogram, shares[i]);
			double error = fabs((double)got - (double)truth);

			assert_true(count <= TPA_HISTOGRAM_EXACT ? got == truth
								 : error <= (double)truth / (2 * TPA_HISTOGRAM_PARTS));
		}
		tpa_histogram_free(&histogram);
	}
}

/* The table of any textbook; and an interval by hand: 1, 2, 3 has mean 2, deviation 1. */
static void test_student(void **state)
{
	static const struct {
		uint64_t degrees;
		double point;
	} table[] = {
		{ 1, 12.7062047 }, { 2, 4.3026527 },  { 3, 3.1824463 },	 { 4, 2.7764451 },   { 5, 2.5705818 },
		{ 7, 2.3646243 },  { 10, 2.2281389 }, { 30, 2.0422725 }, { 120, 1.9799304 }, { 100000, 1.9599876 }
	};
	struct tpa_moments moments = { 0 };
	struct tpa_interval interval;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_true(fabs(tpa_student_t(0.05, (double)table[i].degrees) - table[i].point) < 2e-7);
	tpa_moments_add(&moments, 1);
	assert_true(isnan(tpa_moments_interval(&moments).low));
	tpa_moments_add(&moments, 2);
	tpa_moments_add(&moments, 3);
	interval = tpa_moments_interval(&moments);
	assert_true(fabs(interval.high - (2 + 4.3026527 / sqrt(3))) < 1e-5);
	assert_true(fabs(interval.low - (2 - 4.3026527 / sqrt(3))) < 1e-5);
}

/* Increases go to the ops that are open by then; what came before the first op is in the process's total alone. */
static void test_counters(void **state)
{
	struct gen *gen = new_gen();
	struct replayed replayed;
	const struct tpa_op_stats *outer, *inner;
	uint64_t parameters = 0;

	(void)state;
	gen_counter(gen, 1, 0, 0, "page-faults");
	gen_counter(gen, 0, ENOENT, 0, "cycles");
	gen_counter(gen, 2, 0, TPROF_COUNTER_USER, "instructions");
	gen_value(gen, "parameters", 5);
	gen_value(gen, "batch", 32);
	gen_value(gen, "parameters", 7);
	gen_counters(gen, 1, 1000, 0, (const uint64_t[]){ 100, 1 }, 2);
	gen_op_begin(gen, 1, 1000, 1);
	gen_counters(gen, 1, 2000, 3, (const uint64_t[]){ 10, 2 }, 2);
	gen_op_begin(gen, 1, 2100, 2);
	gen_counters(gen, 1, 3000, 0, (const uint64_t[]){ UINT64_C(1) << 40, 4 }, 2);
	gen_op_end(gen, 1, 3000, false);
	gen_counters(gen, 1, 3500, 0, (const uint64_t[]){ 1, 8 }, 2);
	gen_op_begin(gen, 1, 3500, 3); /* the outer op again: counted once in the whole */
	gen_counters(gen, 1, 3600, 0, (const uint64_t[]){ 5, 16 }, 2);
	gen_op_end(gen, 1, 3600, false);
	gen_counters(gen, 1, 4000, 0, (const uint64_t[]){ 2 }, 1); /* the second one's is missing */
	gen_op_end(gen, 1, 4000, false);
	replayed = replay(gen, &(struct tpa_replay_options){ 0 });
	outer = op_named(&replayed, "outer");
	inner = op_named(&replayed, "inner");
	assert_int_equal(inner->counters.value[0], UINT64_C(1) << 40);
	assert_int_equal(inner->self_counters.value[1], 4);
	assert_int_equal(outer->self_counters.value[0], 10 + 1 + 5 + 2);
	assert_int_equal(outer->counters.value[0], (UINT64_C(1) << 40) + 10 + 1 + 5 + 2);
	assert_int_equal(outer->counters.value[1], 2 + 4 + 8 + 16);
	assert_int_equal(outer->counters.idle_ns, 3);
	/* Reading took 100 before the inner op began, and is taken to have taken 100 after it ended. */
	assert_int_equal(outer->self_cost_ns, 200);
	assert_int_equal(inner->self_cost_ns, 0);
	assert_int_equal(replayed.process->overhead_ns, 200);
	assert_int_equal(replayed.process->counters.value[1], 1 + 2 + 4 + 8 + 16);
	assert_int_equal(tpa_trace_counter(replayed.trace, "instructions"), 1);
	assert_int_equal(tpa_trace_counter(replayed.trace, "cycles"), -1);
	assert_int_equal(replayed.trace->counters[1].error, ENOENT);
	assert_true(tpa_trace_value(replayed.trace, "parameters", &parameters));
	assert_int_equal(parameters, 7);
	assert_int_equal(replayed.trace->value_count, 2);
	done(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),    cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_interleaved), cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_memory),	    cmocka_unit_test(test_failed_realloc),
		cmocka_unit_test(test_threads),	    cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_steps),	    cmocka_unit_test(test_many_steps),
		cmocka_unit_test(test_statistics),  cmocka_unit_test(test_student),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
