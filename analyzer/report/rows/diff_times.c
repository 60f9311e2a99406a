/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/diff_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats/peer_ratios.h"
#include "model/result/op_combine.h"
#include "model/ops/op_stats.h"
#include "model/ops/ops.h"
#include "model/stats/more_runs.h"
#include "model/stats/rank.h"
#include "base/memory.h"
#include "report/rows/diff_words.h"

#define MIDDLE_PARTS 11

void tpa_diff_times_free(struct tpa_diff_times *times)
{
	for (size_t i = 0; i < times->count; i++) {
		free((void *)(uintptr_t)times->list[i]->name);
		free((void *)(uintptr_t)times->list[i]->category);
		tpa_histogram_free(&times->list[i]->side[0].durations);
		tpa_histogram_free(&times->list[i]->side[1].durations);
		free(times->list[i]);
	}
	free((void *)times->list);
	memset(times, 0, sizeof(*times));
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct tpa_diff_time *time_for(struct tpa_diff_times *times, const char *name, const char *category)
{
	struct tpa_diff_time *time;

	for (size_t i = 0; i < times->count; i++)
		if (tpa_op_name_same(times->list[i]->name, name) && same(times->list[i]->category, category))
			return times->list[i];
	time = tpa_zalloc(1, sizeof(*time));
	time->name = tpa_strdup(name);
	time->category = category ? tpa_strdup(category) : NULL;
	tpa_grow((void *)&times->list, &times->room, times->count + 1, sizeof(*times->list));
	return times->list[times->count++] = time;
}

/*
 * The typical duration of a run's calls, as a logarithm of ns: the mean logarithm between the quartiles. The longest
 * and shortest calls say more about the machine, which interrupts some of them, than about the program.
 */
static double middle_of(const struct tpa_histogram *durations)
{
	double sum = 0;

	for (int i = 0; i < MIDDLE_PARTS; i++)
		sum += log(fmax(tpa_histogram_quantile(durations, 0.25 + 0.5 * i / (MIDDLE_PARTS - 1)), 1));
	return sum / MIDDLE_PARTS;
}

static void add_run(struct tpa_times *side, const struct tpa_batches *batches, const struct tpa_histogram *durations,
		    uint64_t total_ns, size_t runs)
{
	tpa_histogram_merge(&side->durations, durations);
	side->total_ns += total_ns;
	tpa_moments_fill(&side->calls, runs);
	tpa_moments_add(&side->calls, (double)batches->calls);
	tpa_moments_add(&side->runs, middle_of(durations));
	side->batches = *batches;
}

static void add_ops(struct tpa_diff_times *times, int side, const struct tpa_run *run)
{
	size_t count;
	struct tpa_op_stats *list = tpa_ops_combine(run, &count);

	for (size_t i = 0; i < count; i++) {
		const struct tpa_op_stats *op = &list[i];

		if (op->batches && op->batches->calls)
			add_run(&time_for(times, op->name, op->category ? op->category : "")->side[side], op->batches,
				op->histogram, op->total_ns, times->runs[side]);
	}
	tpa_ops_result_free(list, count);
}

/* The steps of one run, or its duration. */
struct gathered {
	struct tpa_batches batches;
	struct tpa_histogram durations;
	double total_ns;
};

static void gather(struct gathered *all, double ns, uint64_t times)
{
	tpa_batches_add(&all->batches, ns, times);
	all->total_ns += ns * (double)times;
	tpa_histogram_add_many(&all->durations, tpa_round(ns), times);
}

static void add_gathered(struct tpa_diff_times *times, int side, const char *name, struct gathered *all)
{
	if (all->batches.calls)
		add_run(&time_for(times, name, NULL)->side[side], &all->batches, &all->durations,
			tpa_round(all->total_ns), times->runs[side]);
	tpa_histogram_free(&all->durations);
}

static void add_duration(struct tpa_diff_times *times, int side, const struct tpa_run *run)
{
	struct gathered all = { 0 };

	gather(&all, (double)run->duration_ns, 1);
	add_gathered(times, side, TPA_DIFF_RUN, &all);
}

/*
 * Adds the steps after the warm-up. In a long run, an entry of the list may be several neighbouring steps, which are
 * taken to have their mean duration.
 */
static void add_steps(struct tpa_diff_times *times, int side, const struct tpa_step_stats *steps)
{
	struct gathered all = { 0 };

	for (size_t i = 0; steps->durations.count && i < steps->list_count; i++) {
		const struct tpa_step *step = &steps->list[i];

		if (step->first > steps->warmup)
			gather(&all, (double)(step->end_ns - step->begin_ns) / (double)step->steps, step->steps);
	}
	add_gathered(times, side, TPA_DIFF_STEP, &all);
}

void tpa_diff_times_add(struct tpa_diff_times *times, int side, const struct tpa_run *run)
{
	add_duration(times, side, run);
	add_steps(times, side, &tpa_stepping(run)->steps);
	add_ops(times, side, run);
	times->runs[side]++;
}

/* ---- the tests ---- */

static void test(const struct tpa_diff_times *times, struct tpa_diff_time *time)
{
	struct tpa_times *a = &time->side[0], *b = &time->side[1];
	struct tpa_rank_test ranks = tpa_rank_test(&a->durations, &b->durations);

	tpa_moments_fill(&a->calls, times->runs[0]);
	tpa_moments_fill(&b->calls, times->runs[1]);
	time->later = ranks.later;
	if (times->runs[0] > 1 || times->runs[1] > 1)
		time->difference = tpa_difference_runs(&a->runs, &b->runs, true);
	else
		time->difference = tpa_difference_batches(&a->batches, &b->batches);
	time->calls = tpa_difference_runs(&a->calls, &b->calls, false);
}

static bool is_one_of_many(const struct tpa_diff_time *time)
{
	const struct tpa_interval *interval = &time->difference.interval;

	return time->category && interval->low > 0 && interval->high > 0;
}

/* Compares each op with the others. Only ops whose ratio has an interval take part. */
static void test_among(struct tpa_diff_times *times)
{
	struct tpa_among *list = tpa_zalloc(times->count, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < times->count; i++) {
		const struct tpa_difference *difference = &times->list[i]->difference;

		if (is_one_of_many(times->list[i]))
			list[count++] = (struct tpa_among){
				.log_ratio = log(difference->ratio),
				.error =
					log(difference->interval.high / difference->interval.low) / (2 * TPA_NORMAL_95),
			};
	}
	tpa_among_test(list, count);
	for (size_t i = times->count; i-- > 0;)
		if (is_one_of_many(times->list[i]))
			times->list[i]->among = list[--count].p;
	free(list);
}

/*
 * fmax() ignores a NAN in `among`: then p is that of the calls, and tpa_diff_time_is_one_run() tells how far to trust
 * it.
 */
double tpa_diff_time_p(const struct tpa_diff_time *time)
{
	return isnan(time->difference.p) ? NAN : fmax(time->difference.p, time->among);
}

/* Corrects for the number of times that were tested. The sizes are logarithms of ratios. */
static void count_more_runs(struct tpa_diff_times *times)
{
	size_t tests = 0;

	for (size_t i = 0; i < times->count; i++)
		tests += isnan(times->list[i]->corrected) ? 0 : 1;
	for (size_t i = 0; i < times->count; i++) {
		struct tpa_diff_time *time = times->list[i];
		double size = fmax(fabs(log(time->difference.ratio)), log(1 + TPA_DIFF_MATTERS));

		time->more_runs = tpa_more_runs(&time->difference, times->runs, size, tests);
	}
}

void tpa_diff_times_test(struct tpa_diff_times *times)
{
	double *p = tpa_zalloc(times->count, sizeof(*p));

	for (size_t i = 0; i < times->count; i++) {
		test(times, times->list[i]);
		times->list[i]->among = NAN;
	}
	if (times->runs[0] == 1 && times->runs[1] == 1)
		test_among(times);
	for (size_t i = 0; i < times->count; i++)
		p[i] = tpa_diff_time_p(times->list[i]);
	tpa_holm(p, times->count);
	for (size_t i = 0; i < times->count; i++)
		times->list[i]->corrected = p[i];
	free(p);
	count_more_runs(times);
}

const struct tpa_diff_time *tpa_diff_op(const struct tpa_diff_times *times, const char *name)
{
	const struct tpa_diff_time *most = NULL;

	for (size_t i = 0; i < times->count; i++) {
		const struct tpa_diff_time *time = times->list[i];
		uint64_t total = time->side[0].total_ns + time->side[1].total_ns;

		if (time->category && tpa_op_name_same(time->name, name) &&
		    (!most || total > most->side[0].total_ns + most->side[1].total_ns))
			most = time;
	}
	return most;
}

const struct tpa_diff_time *tpa_diff_time(const struct tpa_diff_times *times, const char *what)
{
	for (size_t i = 0; i < times->count; i++)
		if (!times->list[i]->category && strcmp(times->list[i]->name, what) == 0)
			return times->list[i];
	return NULL;
}

bool tpa_diff_time_is_one_run(const struct tpa_diff_time *time)
{
	return isnan(time->among) && time->side[0].runs.count == 1 && time->side[1].runs.count == 1;
}

const char *tpa_diff_time_verdict(const struct tpa_diff_time *time)
{
	if (!time->side[0].runs.count || !time->side[1].runs.count)
		return time->side[0].runs.count ? "gone" : "new";
	if (time->difference.doubt != TPA_DOUBT_NONE)
		return time->difference.doubt == TPA_DOUBT_DRIFT ? "drifts" : "too few";
	switch (tpa_diff_word(&time->difference, time->corrected, NAN)) {
	case TPA_DIFF_NONE:
		return "noise";
	case TPA_DIFF_FEW_RUNS:
		return "too few runs";
	case TPA_DIFF_LIKELY:
		if (!tpa_diff_time_is_one_run(time))
			return time->among >= TPA_DIFF_LEVEL ? "as others" : "different";
		break;
	case TPA_DIFF_SURE:
		break;
	}
	if (tpa_diff_time_is_one_run(time))
		return "one run";
	return time->difference.ratio > 1 ? "slower" : "faster";
}
