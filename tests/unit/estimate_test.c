/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled allocations: estimates, variances and intervals, against numbers worked out by hand and against programs that
 * are sampled many times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/replay/run.h"
#include "model/stats/stats.h"
#include "two_sites.h"
#include "tracegen.h"

static struct gen *gen_sampled(uint64_t mean)
{
	struct gen *gen = gen_new(&(struct gen_options){ 0 });

	gen_header(gen)->sample_bytes = mean;
	two_sites(gen);
	return gen;
}

static void do_alloc(struct gen *gen, uint64_t ticks, uint64_t address, uint64_t size, uint32_t site)
{
	struct gen_alloc alloc = { .address = address, .size = size, .usable = size, .node = SITE(site) };

	gen_alloc(gen, 1, ticks, &alloc);
}

struct replayed {
	struct tpa_trace *trace;
	struct tpa_run *run;
	const struct tpa_process *process;
};

static void replay(struct replayed *replayed, struct gen *gen, const struct tpa_replay_options *options)
{
	const char *name = gen_save(gen);
	char *error = NULL;

	replayed->trace = tpa_trace_open(name, &error);
	assert_non_null(replayed->trace);
	unlink(name);
	gen_free(gen);
	replayed->run = tpa_run_replay(&replayed->trace, 1, options);
	assert_non_null(replayed->run);
	replayed->process = &replayed->run->processes[0];
}

static void close_replayed(struct replayed *replayed)
{
	tpa_run_free(replayed->run);
	tpa_trace_close(replayed->trace);
}

static void near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-6 * fabs(wanted) + 1e-9)
		fail_msg("%.9g instead of %.9g", value, wanted);
}

static const struct tpa_site *site_of(const struct tpa_process *process, uint32_t site)
{
	for (size_t i = 0; i < process->site_count; i++)
		if (tpa_trace_file_node(process->trace, process->sites[i].node) == SITE(site))
			return &process->sites[i];
	fail_msg("no site %u", site);
	return NULL;
}

/*
 * Mean 100. A block of 50 bytes: p = 1 - exp(-0.5) = 0.393469, 1 / p = 2.541494, 50 / p = 127.0747, (1 - p) / p^2 =
 * 3.917698. A block of 200: p = 0.864665, 1 / p = 1.156518, 200 / p = 231.3035, (1 - p) / p^2 = 0.1810154.
 */
static void by_hand(void **state)
{
	const struct tpa_variance *variance;
	struct gen *gen = gen_sampled(100);
	struct replayed replayed;
	const struct tpa_heap *heap;

	(void)state;
	do_alloc(gen, 10, 0x1000, 50, 0);
	do_alloc(gen, 20, 0x2000, 200, 1);
	gen_release(gen, 1, 30, 0x1000, TPROF_FN_FREE);
	replay(&replayed, gen, NULL);
	assert_true(replayed.process->estimated);
	heap = &replayed.process->heap;
	variance = &heap->variance;
	assert_int_equal(heap->recorded_allocations, 2);
	assert_int_equal(heap->recorded_frees, 1);
	assert_int_equal(heap->allocations, 4); /* 3.698 */
	assert_int_equal(heap->bytes, 358);	/* 358.378 */
	assert_int_equal(heap->frees, 3);	/* 2.541 */
	assert_int_equal(heap->peak_bytes, 358);
	assert_int_equal(heap->peak_blocks, 4);
	assert_int_equal(heap->end_bytes, 231);
	assert_int_equal(heap->end_blocks, 1);
	near(variance->allocations, 3.9176980890327635 + 0.18101541524157766);
	near(variance->bytes, 9794.245222581909 + 7240.616609663107);
	near(variance->frees, 3.9176980890327635);
	near(variance->peak_bytes, 9794.245222581909 + 7240.616609663107);
	near(variance->live_bytes, 7240.616609663107);
	near(variance->live_blocks, 0.18101541524157766);
	assert_int_equal(site_of(replayed.process, 0)->bytes, 127);
	assert_int_equal(site_of(replayed.process, 0)->peak_bytes, 127);
	assert_int_equal(site_of(replayed.process, 0)->live_bytes, 0);
	near(site_of(replayed.process, 0)->variance->bytes, 9794.245222581909);
	assert_int_equal(site_of(replayed.process, 1)->live_bytes, 231);
	assert_int_equal(replayed.process->threads[0].bytes, 358);
	assert_int_equal(replayed.run->peak_bytes, 358);
	near(replayed.run->peak_variance, variance->peak_bytes);
	close_replayed(&replayed);
}

/* A reallocation that fails takes its free back, in the estimates too; temporary allocations are not known. */
static void cancelled(void **state)
{
	struct gen *gen = gen_sampled(100);
	struct replayed replayed;

	(void)state;
	do_alloc(gen, 10, 0x1000, 50, 0);
	gen_release(gen, 1, 20, 0x1000, TPROF_FN_REALLOC);
	do_alloc(gen, 25, 0x5000, 50, 0);
	gen_release(gen, 1, 26, 0x5000, TPROF_FN_FREE);
	gen_release(gen, 1, 30, 0x1000, TPROF_FN_REALLOC);
	gen_cancel(gen, 1, 40);
	replay(&replayed, gen, NULL);
	assert_int_equal(replayed.process->heap.temporary, 0);
	close_replayed(&replayed);

	gen = gen_sampled(100);
	do_alloc(gen, 10, 0x1000, 50, 0);
	do_alloc(gen, 11, 0x2000, 200, 1);
	gen_release(gen, 1, 20, 0x1000, TPROF_FN_REALLOC);
	gen_map(gen, 1, 25, 0x100000, 4096, 0x22, SITE(0));
	gen_cancel(gen, 1, 30);
	replay(&replayed, gen, NULL);
	assert_int_equal(replayed.process->heap.frees, 0);
	assert_int_equal(replayed.process->heap.end_bytes, 358);
	near(replayed.process->heap.variance.live_bytes, 9794.245222581909 + 7240.616609663107);
	assert_true(replayed.process->heap.variance.frees < 1e-9);
	close_replayed(&replayed);
}

/* What was live before the time that is looked at counts towards the peak, not towards the end. */
static void window(void **state)
{
	struct tpa_replay_options options = { .from_ns = 15 };
	struct gen *gen = gen_sampled(100);
	struct replayed replayed;

	(void)state;
	do_alloc(gen, 10, 0x1000, 50, 0);
	do_alloc(gen, 20, 0x2000, 200, 1);
	replay(&replayed, gen, &options);
	assert_int_equal(replayed.process->heap.peak_bytes, 358);
	assert_int_equal(replayed.process->heap.end_bytes, 231);
	assert_int_equal(replayed.process->heap.allocations, 1);
	near(replayed.process->heap.variance.live_bytes, 7240.616609663107);
	close_replayed(&replayed);
}

static void exact_ones_have_no_variance(void **state)
{
	struct gen *gen = gen_sampled(0);
	struct replayed replayed;

	(void)state;
	do_alloc(gen, 10, 0x1000, 50, 0);
	replay(&replayed, gen, NULL);
	assert_false(replayed.process->estimated);
	assert_int_equal(replayed.process->heap.bytes, 50);
	assert_true(replayed.process->heap.variance.bytes == 0);
	close_replayed(&replayed);
}

/* Sizes and addresses that no sampler records must not become infinite. */
static void absurd(void **state)
{
	struct gen *gen = gen_sampled(UINT64_MAX);
	struct replayed replayed;

	(void)state;
	do_alloc(gen, 10, 0x1000, 0, 0);
	do_alloc(gen, 20, 0x2000, UINT64_MAX / 2, 1);
	do_alloc(gen, 30, 0x3000, 1, 1);
	gen_release(gen, 1, 40, 0x2000, TPROF_FN_FREE);
	replay(&replayed, gen, NULL);
	assert_int_equal(replayed.process->heap.recorded_allocations, 3);
	close_replayed(&replayed);
}

/* ---- many runs ---- */

#define RUNS 300
#define BLOCKS 4000
#define MEAN 8192

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

static uint64_t size_of(unsigned i)
{
	return i % 50 == 0 ? 40000 + i : 16 + i * 37 % 2000;
}

/* One run of the same program with another seed: every byte is a hit with probability 1 / MEAN. */
static struct gen *run_once(uint64_t seed)
{
	struct gen *gen = gen_sampled(MEAN);
	double until = -log(uniform(&seed)) * MEAN;
	unsigned i;

	for (i = 0; i < BLOCKS; i++) {
		double size = (double)size_of(i);

		if (until > size) {
			until -= size;
			continue;
		}
		until = -log(uniform(&seed)) * MEAN;
		do_alloc(gen, 10 + 10 * i, 0x100000 + UINT64_C(0x100000) * i, size_of(i), i % 2);
		if (i % 4 == 0)
			gen_release(gen, 1, 15 + 10 * i, 0x100000 + UINT64_C(0x100000) * i, TPROF_FN_FREE);
	}
	return gen;
}

static bool covers(uint64_t estimate, double variance, double unseen, double truth)
{
	struct tpa_interval interval = tpa_interval_estimate((double)estimate, variance, unseen);

	return interval.low <= truth && truth <= interval.high;
}

/* Of 300 intervals at 95%, 285 hold the truth, give or take 4; 270 is four standard deviations away. */
static void many_runs(void **state)
{
	double bytes = 0, live = 0, bytes_sum = 0, count_sum = 0;
	unsigned bytes_held = 0, count_held = 0, live_held = 0, i;

	(void)state;
	for (i = 0; i < BLOCKS; i++) {
		bytes += (double)size_of(i);
		live += i % 4 ? (double)size_of(i) : 0;
	}
	for (i = 0; i < RUNS; i++) {
		struct replayed replayed;
		const struct tpa_unseen *unseen;
		const struct tpa_heap *heap;

		replay(&replayed, run_once(UINT64_C(0x9e3779b97f4a7c15) * (i + 1)), NULL);
		heap = &replayed.process->heap;
		unseen = &replayed.process->unseen;
		bytes_sum += (double)heap->bytes;
		count_sum += (double)heap->allocations;
		bytes_held += covers(heap->bytes, heap->variance.bytes, unseen->bytes, bytes);
		count_held += covers(heap->allocations, heap->variance.allocations, unseen->blocks, BLOCKS);
		live_held += covers(heap->end_bytes, heap->variance.live_bytes, unseen->bytes, live);
		close_replayed(&replayed);
	}
	/* The mean of 300 runs is as good as one run of 300 times the work. */
	assert_true(fabs(bytes_sum / RUNS / bytes - 1) < 0.01);
	assert_true(fabs(count_sum / RUNS / BLOCKS - 1) < 0.05);
	assert_in_range(bytes_held, 270, 300);
	assert_in_range(count_held, 270, 300);
	assert_in_range(live_held, 270, 300);
}

/* Equal weights: the exact interval of a Poisson count, as Garwood's (1936) tables have it, times the weight. */
static void skewed(void **state)
{
	const struct {
		double count, low, high;
	} garwood[] = { { 3, 0.619, 8.767 }, { 10, 4.795, 18.390 }, { 100, 81.364, 121.627 } };

	(void)state;
	for (size_t i = 0; i < sizeof(garwood) / sizeof(garwood[0]); i++) {
		double count = garwood[i].count, weight = 40;
		struct tpa_interval interval = tpa_interval_estimate(count * weight, count * weight * weight, 0);

		assert_true(fabs(interval.low / weight - garwood[i].low) < 0.02);
		assert_true(fabs(interval.high / weight - garwood[i].high) < 0.02);
	}
	assert_true(tpa_interval_estimate(7, 0, 0).low == 7 && tpa_interval_estimate(7, 0, 0).high == 7);
}

/* What was sure to be met says nothing of the rest: Poisson counts of 0 and 3 beside it (Garwood 1936). */
static void sure_in_part(void **state)
{
	struct tpa_interval none = tpa_interval_estimate(1000, 0, 40), three = tpa_interval_estimate(1120, 4800, 40);

	(void)state;
	assert_true(none.low == 1000 && fabs((none.high - 1000) / 40 - 3.689) < 0.03);
	assert_true(fabs((three.low - 1000) / 40 - 0.619) < 0.02 && fabs((three.high - 1000) / 40 - 8.767) < 0.02);
	assert_true(tpa_interval_estimate(0, 0, 40).high == 0); /* is asked by nobody: "0 +-?" */
}

#define DOUBLINGS 18 /* from 8 bytes to 1 MiB */

/* As a run of run_once(), all of site 0, with an array of site 1 that grows by doubling. */
static struct gen *run_growing(uint64_t seed)
{
	struct gen *gen = gen_sampled(MEAN);
	unsigned i;

	for (i = 0; i < BLOCKS; i++)
		if (uniform(&seed) < -expm1(-(double)size_of(i) / MEAN))
			do_alloc(gen, 10 + i, 0x100000 + UINT64_C(0x100000) * i, size_of(i), 0);
	for (i = 0; i < DOUBLINGS; i++)
		if (uniform(&seed) < -expm1(-ldexp(8, (int)i) / MEAN))
			do_alloc(gen, 10 + BLOCKS + i, 0x10 + UINT64_C(0x20) * i, UINT64_C(8) << i, 1);
	return gen;
}

/* The large ones are in every sample, the small ones in hardly any. */
static void large_and_small_at_one_site(void **state)
{
	const double bytes = ldexp(8, DOUBLINGS) - 8;
	unsigned bytes_held = 0, count_held = 0;

	(void)state;
	for (unsigned i = 0; i < RUNS; i++) {
		const struct tpa_unseen *unseen;
		const struct tpa_site *site;
		struct replayed replayed;

		replay(&replayed, run_growing(UINT64_C(0x9e3779b97f4a7c15) * (i + 1)), NULL);
		unseen = &replayed.process->unseen;
		site = site_of(replayed.process, 1);
		bytes_held += covers(site->bytes, site->variance->bytes, unseen->bytes, bytes);
		count_held += covers(site->allocations, site->variance->allocations, unseen->blocks, DOUBLINGS);
		close_replayed(&replayed);
	}
	assert_in_range(bytes_held, 270, 300);
	assert_in_range(count_held, 270, 300);
}

/* Where no small block was recorded, nothing tells how many there are, but that a hit in the smallest would stand for many. */
static void large_ones_alone(void **state)
{
	struct gen *gen = gen_sampled(100);
	struct replayed replayed;

	(void)state;
	do_alloc(gen, 10, 0x1000, 2000, 0);
	replay(&replayed, gen, NULL);
	near(replayed.process->unseen.bytes, 100);
	near(replayed.process->unseen.blocks, 1 / -expm1(-0.24));
	close_replayed(&replayed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skewed),
		cmocka_unit_test(by_hand),
		cmocka_unit_test(cancelled),
		cmocka_unit_test(window),
		cmocka_unit_test(exact_ones_have_no_variance),
		cmocka_unit_test(absurd),
		cmocka_unit_test(many_runs),
		cmocka_unit_test(sure_in_part),
		cmocka_unit_test(large_and_small_at_one_site),
		cmocka_unit_test(large_ones_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
