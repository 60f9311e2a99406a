/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording that is limited (header.max_overhead): blocks that were sampled by different means, calls of ops that were recorded
 * in a part of the time, and the levels themselves, against programs whose true numbers are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/archive.h"
#include "model/replay/replay.h"
#include "model/stats/stats.h"
#include "reading.h"
#include "replayed.h"
#include "result_of.h"
#include "two_sites.h"
#include "report/rows/level_words.h"

#define FIRST_MEAN (UINT64_C(512) << 10)

static struct gen *gen_limited(void)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });

	gen_header(gen)->sample_bytes = FIRST_MEAN;
	gen_header(gen)->max_overhead = 200;
	gen_header(gen)->features |= TPROF_FEATURE_LEVELS;
	two_sites(gen);
	return gen;
}

static void put(struct gen *gen, uint64_t ticks, uint64_t address, uint64_t size, uint8_t mean)
{
	struct gen_alloc alloc = {
		.address = address, .size = size, .usable = size, .node = SITE(0), .has_mean = true, .mean = mean
	};

	gen_alloc(gen, 1, ticks, &alloc);
}

static void near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6 * fabs(wanted) + 1e-9)
		fail_msg("%.9g instead of %.9g", value, wanted);
}

/* ---- records ---- */

/* The mean of each block, in the short and in the long form and of pools. */
static void records(void **state)
{
	struct gen *gen = gen_limited();
	struct gen_alloc block = { .address = 0x3000, .size = 7, .node = SITE(0), .has_mean = true, .mean = 21 };
	const struct tpa_event *event;
	struct reading reading;

	(void)state;
	put(gen, 10, 0x1000, 50, 0);
	put(gen, 11, 0x1003, 50, 20);
	allocate(gen, 1, 12, 0x2000, 60);
	gen_pool_alloc(gen, 1, 13, 0x3000, &block);
	gen_level(gen, 1, 14, 19, false);
	gen_level(gen, 1, 15, 0, true);
	put(gen, 16, 0x4000, 50, 62);
	reading = begin(gen);
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 10)->alloc.mean, 0);
	event = next(&reading, TPA_EVENT_ALLOC, 11);
	assert_int_equal(event->alloc.mean, 20);
	assert_int_equal(event->node, SITE(0));
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 12)->alloc.mean, TPA_MEAN_UNSAID);
	assert_int_equal(next(&reading, TPA_EVENT_POOL_ALLOC, 13)->pool_alloc.mean, 21);
	event = next(&reading, TPA_EVENT_LEVEL, 14);
	assert_int_equal(event->level.mean, 19);
	assert_false(event->level.ops);
	event = next(&reading, TPA_EVENT_LEVEL, 15);
	assert_int_equal(event->level.mean, 0);
	assert_true(event->level.ops);
	assert_int_equal(next(&reading, TPA_EVENT_ALLOC, 16)->alloc.mean, 62);
	end(&reading, 0);
	gen_free(gen);
}

/* A mean above 62 is damage: the rest of the chunk is given up. */
static void damaged(void **state)
{
	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		struct gen *gen = gen_limited();
		struct gen_alloc block = { .address = 0x2000 + (form == 1), .size = 7, .has_mean = true, .mean = 63 };
		struct reading reading;

		put(gen, 10, 0x1000, 50, 0);
		if (form < 2)
			gen_alloc(gen, 1, 11, &block);
		else if (form == 2)
			gen_pool_alloc(gen, 1, 11, 0, &block);
		else
			gen_level(gen, 1, 11, 63, true);
		put(gen, 12, 0x3000, 50, 0);
		reading = begin(gen);
		next(&reading, TPA_EVENT_ALLOC, 10);
		end(&reading, 1);
		gen_free(gen);
	}
}

/* ---- estimates of memory ---- */

/*
 * A block of 50 bytes by a mean of 2^6: p = 1 - exp(-50 / 64) = 0.542167, 1 / p = 1.844451, (1 - p) / p^2 = 1.557548. One of
 * 200 bytes while all were recorded stands for itself alone. One of 2^19 bytes by the header's mean, 2^19: 1 / p = 1.581977.
 */
static void by_hand(void **state)
{
	struct gen *gen = gen_limited();
	struct replayed replayed;
	const struct tpa_heap *heap;

	(void)state;
	put(gen, 10, 0x1000, 200, 0);
	gen_level(gen, 1, 20, 6, true);
	put(gen, 30, 0x2000, 50, 6);
	gen_release(gen, 1, 40, 0x2000, TPROF_FN_FREE);
	gen_release(gen, 1, 41, 0x7000, TPROF_FN_FREE); /* of a block that was left out */
	allocate(gen, 1, 50, 0x4000, UINT64_C(1) << 19);
	replayed = replay(gen, NULL);
	heap = &replayed.process->heap;
	assert_true(replayed.process->estimated);
	assert_int_equal(heap->recorded_allocations, 3);
	assert_int_equal(heap->bytes, 829704); /* 200 + 92.22 + 829411.4 */
	assert_int_equal(heap->frees, 2);      /* 1.844451 */
	assert_int_equal(heap->unmatched_frees, 0);
	near(heap->variance.frees, 1.5575482);
	assert_int_equal(heap->end_bytes, 829611); /* 829611.4 */
	near(replayed.process->unseen.bytes, (double)FIRST_MEAN);
	done(&replayed);
}

/* Sizes of 0 are recorded with the others while all are. While no block is left out, all numbers are exact. */
static void exact(void **state)
{
	struct gen *gen = gen_limited();
	struct replayed replayed;
	const struct tpa_heap *heap;

	(void)state;
	put(gen, 10, 0x1000, 50, 0);
	gen_level(gen, 1, 15, 0, false);
	put(gen, 20, 0x2000, 0, 0);
	put(gen, 25, 0x3000, 70, 0);
	gen_release(gen, 1, 30, 0x3000, TPROF_FN_FREE);
	gen_release(gen, 1, 35, 0x7000, TPROF_FN_FREE);
	gen_level(gen, 1, 40, 0, true);
	replayed = replay(gen, NULL);
	heap = &replayed.process->heap;
	assert_false(replayed.process->estimated);
	assert_true(replayed.process->unseen.bytes == 0 && replayed.process->unseen.blocks == 0);
	assert_int_equal(heap->allocations, 3);
	assert_int_equal(heap->bytes, 120);
	assert_int_equal(heap->frees, 1);
	assert_int_equal(heap->temporary, 1);
	assert_int_equal(heap->unmatched_frees, 1);
	assert_int_equal(heap->peak_bytes, 120);
	assert_int_equal(heap->peak_blocks, 3);
	assert_int_equal(heap->peak_usable, 50 + 24 + 70);
	assert_int_equal(heap->end_bytes, 50);
	assert_true(heap->variance.bytes == 0 && heap->variance.peak_bytes == 0);
	assert_int_equal(replayed.process->sites[0].temporary, 1);
	assert_int_equal(replayed.process->threads[0].bytes, 120);
	done(&replayed);
}

#define RUNS 300
#define BLOCKS 6000u

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(uint64_t *seed)
{
	return ((double)(next_random(seed) >> 11) + 0.5) / 0x1p53;
}

static uint64_t seed_of(unsigned run)
{
	return UINT64_C(0x9e3779b97f4a7c15) * (run + 1);
}

static uint64_t size_of(unsigned i)
{
	return i % 50 == 0 ? 40000 + i : 16 + i * 37 % 2000;
}

/* The levels of a run, from block to block: all, 2^13, 2^15, all, 2^12. */
static uint8_t level_of(unsigned i)
{
	static const uint8_t means[] = { 0, 13, 15, 0, 12 };

	return means[i * 5 / BLOCKS];
}

/* A block lives as long as that of the same number modulo 4 says: 0 is freed at once, 1 much later, in another level. */
static struct gen *run_once(uint64_t seed)
{
	struct gen *gen = gen_limited();
	bool *recorded = calloc(BLOCKS, sizeof(*recorded));

	for (unsigned i = 0; i < BLOCKS; i++) {
		unsigned old = i - BLOCKS / 2;
		uint8_t mean = level_of(i);

		if (i && mean != level_of(i - 1))
			gen_level(gen, 1, 9 + 10 * i, mean, true);
		recorded[i] = !mean || uniform(&seed) < -expm1(-(double)size_of(i) / ldexp(1, mean));
		if (recorded[i])
			put(gen, 10 + 10 * i, 0x100000 + UINT64_C(0x100000) * i, size_of(i), mean);
		if (recorded[i] && i % 4 == 0)
			gen_release(gen, 1, 15 + 10 * i, 0x100000 + UINT64_C(0x100000) * i, TPROF_FN_FREE);
		if (i >= BLOCKS / 2 && old % 4 == 1 && recorded[old])
			gen_release(gen, 1, 16 + 10 * i, 0x100000 + UINT64_C(0x100000) * old, TPROF_FN_FREE);
	}
	free(recorded);
	return gen;
}

static bool covers(uint64_t estimate, double variance, double unseen, double truth)
{
	struct tpa_interval interval = tpa_interval_estimate((double)estimate, variance, unseen);

	return interval.low <= truth && truth <= interval.high;
}

static bool lives(unsigned i)
{
	return i % 4 > 1 || (i % 4 == 1 && i >= BLOCKS / 2);
}

/* Of 300 intervals at 95%, 285 hold the truth, give or take 4; 270 is four standard deviations away. */
static void many_runs(void **state)
{
	double bytes = 0, live = 0, freed = 0, bytes_sum = 0, count_sum = 0, live_sum = 0;
	unsigned bytes_held = 0, count_held = 0, live_held = 0, frees_held = 0;

	(void)state;
	for (unsigned i = 0; i < BLOCKS; i++) {
		bytes += (double)size_of(i);
		live += lives(i) ? (double)size_of(i) : 0;
		freed += !lives(i);
	}
	for (unsigned i = 0; i < RUNS; i++) {
		struct replayed replayed = replay(run_once(seed_of(i)), NULL);
		const struct tpa_heap *heap = &replayed.process->heap;
		const struct tpa_unseen *unseen = &replayed.process->unseen;

		bytes_sum += (double)heap->bytes;
		count_sum += (double)heap->allocations;
		live_sum += (double)heap->end_bytes;
		bytes_held += covers(heap->bytes, heap->variance.bytes, unseen->bytes, bytes);
		count_held += covers(heap->allocations, heap->variance.allocations, unseen->blocks, BLOCKS);
		live_held += covers(heap->end_bytes, heap->variance.live_bytes, unseen->bytes, live);
		frees_held += covers(heap->frees, heap->variance.frees, unseen->blocks, freed);
		assert_int_equal(heap->unmatched_frees, 0);
		done(&replayed);
	}
	assert_true(fabs(bytes_sum / RUNS / bytes - 1) < 0.01);
	assert_true(fabs(live_sum / RUNS / live - 1) < 0.01);
	assert_true(fabs(count_sum / RUNS / BLOCKS - 1) < 0.05);
	assert_in_range(bytes_held, 270, 300);
	assert_in_range(count_held, 270, 300);
	assert_in_range(live_held, 270, 300);
	assert_in_range(frees_held, 270, 300);
}

/* ---- levels ---- */

static void assert_span(const struct tpa_level_span *span, uint64_t from, uint64_t to, uint8_t mean, bool ops)
{
	assert_int_equal(span->from, from);
	assert_int_equal(span->to, to);
	assert_int_equal(span->mean, mean);
	assert_int_equal(span->ops, ops);
	assert_false(span->several);
}

static struct gen *three_levels(void)
{
	struct gen *gen = gen_limited();

	put(gen, 10, 0x1000, 50, 0);
	gen_level(gen, 2, 100, 19, false);
	gen_level(gen, 1, 150, 19, false); /* nothing new */
	gen_level(gen, 1, 400, 0, false);
	put(gen, 1000, 0x2000, 50, 0);
	return gen;
}

static void spans(void **state)
{
	struct replayed replayed = replay(three_levels(), NULL);
	const struct tpa_level_stats *levels = &replayed.process->levels;

	(void)state;
	assert_int_equal(levels->span_count, 3);
	assert_span(&levels->spans[0], 0, 100, 0, true);
	assert_span(&levels->spans[1], 100, 400, 19, false);
	assert_span(&levels->spans[2], 400, 1000, 0, false);
	assert_int_equal(levels->time_count, 3);
	assert_int_equal(levels->time_ns, 1000);
	assert_int_equal(levels->ops_ns, 100);
	assert_int_equal(levels->times[0].time + levels->times[1].time, 700);
	assert_int_equal(levels->times[2].mean, 19);
	done(&replayed);
}

/* What lies outside of the selected time does not count. */
static void window(void **state)
{
	struct replayed replayed = replay(three_levels(), &(struct tpa_replay_options){ .from_ns = 200, .to_ns = 500 });
	const struct tpa_level_stats *levels = &replayed.process->levels;

	(void)state;
	assert_int_equal(levels->span_count, 2);
	assert_span(&levels->spans[0], 200, 400, 19, false);
	assert_span(&levels->spans[1], 400, 500, 0, false);
	assert_int_equal(levels->time_ns, 300);
	assert_int_equal(levels->ops_ns, 0);
	done(&replayed);
}

static void without_a_limit(void **state)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });
	struct replayed replayed;

	(void)state;
	allocate(gen, 1, 10, 0x1000, 50);
	gen_level(gen, 1, 20, 19, false);
	replayed = replay(gen, NULL);
	assert_int_equal(replayed.process->levels.span_count, 0);
	assert_int_equal(replayed.process->levels.time_count, 0);
	assert_false(replayed.process->estimated);
	assert_null(tpa_level_words(replayed.process));
	done(&replayed);
}

#define CHANGES 1000u

/* The list stays short, its spans follow each other, and long ones stay as they are. */
static void many_spans(void **state)
{
	struct gen *gen = gen_limited();
	const struct tpa_level_stats *levels;
	struct replayed replayed;
	uint64_t time = 0, exact = 0, longest = 0;

	(void)state;
	for (unsigned i = 0; i < CHANGES; i++) {
		uint64_t lasts = i == 500 ? 100000 : 1 + i * 37 % 50;

		exact += i % 2 ? 0 : lasts;
		time += lasts;
		gen_level(gen, 1, time, i % 2 ? 0 : 19, true);
	}
	gen_level(gen, 1, time + 1, 19, true);
	replayed = replay(gen, NULL);
	levels = &replayed.process->levels;
	assert_in_range(levels->span_count, 100, TPA_LEVEL_SPANS);
	assert_int_equal(levels->spans[0].from, 0);
	for (size_t i = 1; i < levels->span_count; i++)
		assert_int_equal(levels->spans[i].from, levels->spans[i - 1].to);
	for (size_t i = 0; i < levels->span_count; i++)
		if (levels->spans[i].to - levels->spans[i].from == 100000)
			longest += !levels->spans[i].several && levels->spans[i].mean == 0;
	assert_int_equal(longest, 1);
	assert_int_equal(levels->spans[levels->span_count - 1].to, time + 1);
	assert_int_equal(levels->time_count, 2);
	assert_int_equal(levels->times[0].time, exact + 1);
	assert_int_equal(levels->times[1].time, time - exact);
	done(&replayed);
}

/* ---- ops ---- */

#define HOOKED 1u
#define ANCHOR 2u
#define MARKED 3u
#define SPAN 10000u
#define SPANS 400u

static struct gen *gen_ops(void)
{
	struct gen *gen = gen_limited();

	gen_op(gen, HOOKED, TPROF_OP_FUNCTION, "blas", "hooked");
	gen_op(gen, ANCHOR, TPROF_OP_FUNCTION, "torch", "anchor");
	gen_op(gen, MARKED, TPROF_OP_ANNOTATION, "", "marked");
	return gen;
}

static void call(struct gen *gen, uint64_t ticks, uint32_t op, uint64_t lasts)
{
	gen_op_begin(gen, 1, ticks, op);
	gen_op_end(gen, 1, ticks + lasts, false);
}

struct truth {
	double calls, ticks;
};

/* One SPAN of the program: calls at random, more of them in some phases. `recorded`: those of hooked functions are. */
static void one_span(struct gen *gen, unsigned i, bool recorded, uint64_t *seed, struct truth *truth)
{
	uint64_t at = 1 + UINT64_C(10000) * i, until = at + SPAN - 600;
	double rate = i % 7 < 3 ? 0.004 : 0.010;

	call(gen, at, ANCHOR, 10);
	call(gen, at + 20, MARKED, 10);
	at += 40;
	for (;;) {
		uint64_t lasts = 5 + next_random(seed) % 50;

		at += 60 + (uint64_t)(-log(uniform(seed)) / rate);
		if (at > until)
			return;
		truth->calls++;
		truth->ticks += (double)lasts;
		if (recorded)
			call(gen, at, HOOKED, lasts);
	}
}

/* One run: a fifth of the spans is recorded, at random. */
static struct gen *run_of_ops(uint64_t seed, struct truth *truth)
{
	struct gen *gen = gen_ops();
	bool on = true;

	*truth = (struct truth){ 0 };
	for (unsigned i = 0; i < SPANS; i++) {
		bool recorded = i ? uniform(&seed) < 0.2 : true;

		if (recorded != on)
			gen_level(gen, 1, UINT64_C(10000) * i, 0, recorded);
		on = recorded;
		one_span(gen, i, recorded, &seed, truth);
	}
	gen_plain(gen, 1, UINT64_C(10000) * SPANS, TPROF_EVENT_RESUME);
	return gen;
}

static bool holds(const struct tpa_whole *whole, double truth)
{
	return fabs(whole->value - truth) <= whole->half;
}

static void many_runs_of_ops(void **state)
{
	double calls_sum = 0, ticks_sum = 0;
	unsigned calls_held = 0, ticks_held = 0;

	(void)state;
	for (unsigned i = 0; i < RUNS; i++) {
		struct truth truth;
		struct replayed replayed = replay(run_of_ops(seed_of(i), &truth), NULL);
		const struct tpa_op_whole *whole = &op_named(&replayed, "hooked")->whole;

		assert_true(whole->limited);
		calls_sum += whole->amounts[TPA_SHARE_CALLS].value / truth.calls;
		ticks_sum += whole->amounts[TPA_SHARE_TOTAL].value / truth.ticks;
		calls_held += holds(&whole->amounts[TPA_SHARE_CALLS], truth.calls);
		ticks_held += holds(&whole->amounts[TPA_SHARE_TOTAL], truth.ticks);
		/* recorded at all times: exact */
		near(op_named(&replayed, "anchor")->whole.amounts[TPA_SHARE_CALLS].value, SPANS);
		near(op_named(&replayed, "marked")->whole.amounts[TPA_SHARE_CALLS].value, SPANS);
		assert_true(op_named(&replayed, "anchor")->whole.amounts[TPA_SHARE_CALLS].half == 0);
		assert_true(op_named(&replayed, "marked")->whole.amounts[TPA_SHARE_TOTAL].half == 0);
		done(&replayed);
	}
	assert_true(fabs(calls_sum / RUNS - 1) < 0.02);
	assert_true(fabs(ticks_sum / RUNS - 1) < 0.02);
	assert_in_range(calls_held, 270, 300);
	assert_in_range(ticks_held, 270, 300);
}

/* Three spans of 100, 300 and 200 ticks with 1, 6 and 2 calls, of 1200: r = 9 / 600, and the variance by its definition. */
static void ops_by_hand(void **state)
{
	const uint64_t begins[] = { 0, 400, 900 }, lasted[] = { 100, 300, 200 }, calls[] = { 1, 6, 2 };
	const struct tpa_whole *whole;
	struct gen *gen = gen_ops();
	struct replayed replayed;
	double left = 0, variance;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		if (i)
			gen_level(gen, 1, begins[i], 0, true);
		for (unsigned k = 0; k < calls[i]; k++)
			call(gen, begins[i] + 10 + 10 * k, HOOKED, 5);
		gen_level(gen, 1, begins[i] + lasted[i], 0, false);
		left += pow((double)calls[i] - 9.0 / 600 * (double)lasted[i], 2);
	}
	gen_plain(gen, 1, 1200, TPROF_EVENT_RESUME);
	variance = 1200.0 * 1200 * (1 - 600.0 / 1200) * 3 / 2 * left / (600.0 * 600);
	replayed = replay(gen, NULL);
	whole = op_named(&replayed, "hooked")->whole.amounts;
	near(whole[TPA_SHARE_CALLS].value, 18);
	assert_true(fabs(whole[TPA_SHARE_CALLS].half / (4.302653 * sqrt(variance)) - 1) < 1e-4); /* t, 2 degrees */
	near(whole[TPA_SHARE_TOTAL].value, 90);
	near(tpa_level_factor(replayed.process).value, 2);
	done(&replayed);
}

/* One span, or none, tells nothing of how much they differ. */
static void too_few_spans(void **state)
{
	struct gen *gen = gen_ops();
	const struct tpa_op_whole *whole;
	struct replayed replayed;

	(void)state;
	call(gen, 10, HOOKED, 5);
	gen_level(gen, 1, 100, 0, false);
	gen_plain(gen, 1, 200, TPROF_EVENT_RESUME);
	replayed = replay(gen, NULL);
	whole = &op_named(&replayed, "hooked")->whole;
	near(whole->amounts[TPA_SHARE_CALLS].value, 2);
	assert_true(isnan(whole->amounts[TPA_SHARE_CALLS].half));
	done(&replayed);

	gen = gen_ops();
	gen_level(gen, 1, 0, 0, false);
	call(gen, 10, HOOKED, 5); /* of a thread that did not know yet */
	gen_plain(gen, 1, 200, TPROF_EVENT_RESUME);
	replayed = replay(gen, NULL);
	assert_true(isnan(tpa_level_factor(replayed.process).value));
	done(&replayed);
}

/* All the time: exact. */
static void ops_at_all_times(void **state)
{
	struct gen *gen = gen_ops();
	const struct tpa_op_whole *whole;
	struct replayed replayed;

	(void)state;
	call(gen, 10, HOOKED, 5);
	gen_level(gen, 1, 100, 19, true);
	gen_plain(gen, 1, 200, TPROF_EVENT_RESUME);
	replayed = replay(gen, NULL);
	whole = &op_named(&replayed, "hooked")->whole;
	near(whole->amounts[TPA_SHARE_CALLS].value, 1);
	assert_true(whole->amounts[TPA_SHARE_CALLS].half == 0);
	done(&replayed);
}

/* ---- words ---- */

static void words(void **state)
{
	struct replayed replayed = replay(three_levels(), NULL);
	char *text = tpa_level_words(replayed.process);

	(void)state;
	assert_string_equal(text,
			    "recording was limited to 2% of the CPU time: all allocations were recorded for 700 ns of "
			    "1.00 us, one per 512 KiB for the rest; calls of hooked functions for 100 ns. Figures of "
			    "memory with +- are estimates. Calls and times of ops are those of the recorded 10.0%; "
			    "what they are in the whole run is not known");
	free(text);
	done(&replayed);
}

/* ---- saved states ---- */

static void assert_same(const struct tpa_process *x, const struct tpa_process *y)
{
	assert_memory_equal(&x->heap, &y->heap, sizeof(x->heap));
	assert_memory_equal(&x->unseen, &y->unseen, sizeof(x->unseen));
	assert_memory_equal(&x->op_whole, &y->op_whole, sizeof(x->op_whole));
	assert_int_equal(x->levels.span_count, y->levels.span_count);
	for (size_t i = 0; i < x->levels.span_count; i++)
		assert_int_equal(x->levels.spans[i].to, y->levels.spans[i].to);
	assert_int_equal(x->levels.ops_ns, y->levels.ops_ns);
	for (size_t i = 0; i < x->op_count; i++)
		assert_memory_equal(&x->ops[i].whole, &y->ops[i].whole, sizeof(x->ops[i].whole));
}

/* A replay that is saved after any event goes on with the same result. */
static void saved(void **state)
{
	static const struct tpa_replay_options options;
	struct gen *gens[] = { run_once(seed_of(0)), NULL };
	struct truth truth;

	(void)state;
	gens[1] = run_of_ops(seed_of(0), &truth);
	for (unsigned i = 0; i < 2; i++) {
		struct replayed whole = replay(gens[i], NULL);
		uint64_t events = whole.process->heap.events;

		for (unsigned part = 0; part <= 20; part++) {
			struct tpa_archive archive = { 0 }, loading = { 0 };
			struct tpa_replay first, second;
			struct tpa_run *run;

			tpa_replay_init(&first, whole.trace, &options, 0);
			tpa_replay_steps(&first, events * part / 20);
			assert_true(tpa_replay_save(&first, &archive));
			tpa_replay_free(&first);
			tpa_archive_load_from(&loading, archive.bytes, archive.size);
			if (!tpa_replay_load(&second, whole.trace, &options, 0, &loading))
				fail_msg("%s", loading.failed);
			tpa_replay_steps(&second, SIZE_MAX);
			run = result_of(&second);
			tpa_replay_free(&second);
			assert_same(run->processes, whole.process);
			tpa_run_free(run);
			tpa_archive_free(&archive);
		}
		done(&whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records),
		cmocka_unit_test(damaged),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(exact),
		cmocka_unit_test(many_runs),
		cmocka_unit_test(spans),
		cmocka_unit_test(window),
		cmocka_unit_test(many_spans),
		cmocka_unit_test(without_a_limit),
		cmocka_unit_test(many_runs_of_ops),
		cmocka_unit_test(ops_by_hand),
		cmocka_unit_test(too_few_spans),
		cmocka_unit_test(ops_at_all_times),
		cmocka_unit_test(words),
		cmocka_unit_test(saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
