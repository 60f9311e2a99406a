/* SPDX-License-Identifier: Apache-2.0 */
#include "model/steps/steps.h"

#include <stdlib.h>

#include "base/archive.h"
#include "base/memory.h"
#include "base/order.h"
#include "model/stats/effective.h"
#include "model/stats/warmup.h"

void tpa_steps_free(struct tpa_steps *steps)
{
	free(steps->list);
	tpa_histogram_free(&steps->durations);
	tpa_step_ops_free(&steps->ops);
}

static void begin(struct tpa_steps *steps, const struct tpa_step_moment *moment)
{
	steps->begin_ns = moment->ns;
	steps->begin_bytes = steps->high = moment->totals.live_bytes;
	steps->begin_flop = moment->flop;
	steps->begin_matrix_flop = moment->matrix_flop;
}

void tpa_steps_start(struct tpa_steps *steps, const struct tpa_step_moment *moment)
{
	begin(steps, moment);
	tpa_step_ops_start(&steps->ops, &moment->totals);
}

static void join(struct tpa_step *to, const struct tpa_step *from)
{
	to->steps += from->steps;
	to->end_ns = from->end_ns;
	to->end_bytes = from->end_bytes;
	to->items += from->items;
	to->flop += from->flop;
	to->matrix_flop += from->matrix_flop;
	to->high_bytes = from->high_bytes > to->high_bytes ? from->high_bytes : to->high_bytes;
}

static void halve(struct tpa_steps *steps)
{
	for (size_t i = 0; i < steps->count; i += 2) {
		join(&steps->list[i], &steps->list[i + 1]);
		steps->list[i / 2] = steps->list[i];
	}
	steps->count /= 2;
	steps->span *= 2;
}

static void record(struct tpa_steps *steps, const struct tpa_step *step)
{
	struct tpa_step *last = steps->count ? &steps->list[steps->count - 1] : NULL;

	if (!steps->list) {
		steps->list = tpa_zalloc(TPA_STEP_MAX, sizeof(*steps->list));
		steps->span = 1;
	}
	if (last && last->steps < steps->span) {
		join(last, step);
		return;
	}
	if (steps->count == TPA_STEP_MAX)
		halve(steps);
	steps->list[steps->count++] = *step;
}

static void add_duration(struct tpa_steps *steps, uint64_t duration, const struct tpa_step *step)
{
	if (steps->ended <= TPA_HISTOGRAM_EXACT) {
		steps->few_items[steps->ended - 1] = step->items;
		steps->few_flop[steps->ended - 1] = step->flop;
		steps->few_matrix_flop[steps->ended - 1] = step->matrix_flop;
	}
	if (steps->ended == 1) {
		steps->first_ns = duration;
		return;
	}
	if (steps->durations.count >= TPA_HISTOGRAM_EXACT)
		tpa_moments_add(&steps->later, (double)duration);
	tpa_histogram_add(&steps->durations, duration);
}

void tpa_steps_end(struct tpa_steps *steps, const struct tpa_step_moment *moment, uint64_t items)
{
	uint64_t duration = moment->ns > steps->begin_ns ? moment->ns - steps->begin_ns : 0;
	struct tpa_step step = {
		.first = ++steps->ended,
		.steps = 1,
		.begin_ns = steps->begin_ns,
		.end_ns = moment->ns,
		.begin_bytes = steps->begin_bytes,
		.end_bytes = moment->totals.live_bytes,
		.high_bytes = steps->high > moment->totals.live_bytes ? steps->high : moment->totals.live_bytes,
		.items = items,
		.flop = moment->flop - steps->begin_flop,
		.matrix_flop = moment->matrix_flop - steps->begin_matrix_flop,
	};

	steps->items += items;
	steps->flop += step.flop;
	steps->matrix_flop += step.matrix_flop;
	begin(steps, moment);
	record(steps, &step);
	add_duration(steps, duration, &step);
	tpa_step_ops_end(&steps->ops, steps->ended, duration, &moment->totals);
}

/* 1 below 4096, then 2, 4, ... with each power of two. */
uint64_t tpa_step_key_span(uint64_t key)
{
	return key < TPA_STEP_MAX ? 1 : UINT64_C(1) << (63 - __builtin_clzll(key) - 11);
}

uint64_t tpa_steps_key(const struct tpa_steps *steps)
{
	uint64_t step = steps->ended + 1;

	return step & ~(tpa_step_key_span(step) - 1);
}

/*
 * Leaves the warm-up out of the sums. The first steps are known one by one: the very first, and those that the
 * histogram keeps.
 */
static void leave_out_warmup(const struct tpa_steps *steps, struct tpa_step_stats *stats)
{
	const struct tpa_histogram *rest = &steps->durations;
	uint64_t first[TPA_HISTOGRAM_EXACT] = { steps->first_ns };
	size_t kept = rest->count < TPA_HISTOGRAM_EXACT ? (size_t)rest->count : TPA_HISTOGRAM_EXACT, known = kept + 1;

	known = known < TPA_HISTOGRAM_EXACT ? known : TPA_HISTOGRAM_EXACT;
	for (size_t i = 1; i < known; i++)
		first[i] = rest->few[i - 1];
	stats->warmup = steps->ended ? tpa_warmup(first, known) : 0;
	stats->warmup = steps->ended && !stats->warmup ? 1 : stats->warmup;
	stats->rest_items = steps->items;
	stats->flop = steps->flop;
	stats->matrix_flop = steps->matrix_flop;
	for (size_t i = 0; i < stats->warmup; i++) {
		stats->warmup_ns += first[i];
		stats->rest_items -= steps->few_items[i];
		stats->flop -= steps->few_flop[i];
		stats->matrix_flop -= steps->few_matrix_flop[i];
	}
	for (size_t i = stats->warmup ? stats->warmup - 1 : 0; i < kept; i++)
		tpa_moments_add(&stats->durations, (double)rest->few[i]);
	tpa_moments_merge(&stats->durations, &steps->later);
}

/*
 * Sets the interval of the mean. If neighbours were joined, their means are the values (batch means): the correlation
 * within them counts less, and the rest is handled like that of single steps.
 */
static void find_interval(const struct tpa_steps *steps, double tick_ns, struct tpa_step_stats *stats)
{
	double *values = tpa_zalloc(stats->list_count, sizeof(*values)), mean = stats->durations.mean;
	struct tpa_effective effective;
	size_t count = 0;

	for (size_t i = 0; i < stats->list_count; i++) {
		const struct tpa_step *step = &stats->list[i];

		if (step->first > stats->warmup && step->steps == steps->span)
			values[count++] = (double)(step->end_ns - step->begin_ns) * tick_ns / (double)step->steps;
	}
	effective = tpa_effective_mean(values, count);
	free(values);
	stats->effective = effective.count * (double)steps->span;
	stats->interval.low = mean - (effective.interval.high - effective.interval.low) / 2;
	stats->interval.high = mean + (effective.interval.high - effective.interval.low) / 2;
}

/* Tukey's upper fence of the durations. With few steps, none is an outlier. */
static uint64_t fence_of(const struct tpa_histogram *durations)
{
	uint64_t q1 = tpa_histogram_percentile(durations, 0.25), q3 = tpa_histogram_percentile(durations, 0.75);

	return durations->count < TPA_WARMUP_MIN ? UINT64_MAX : q3 + (q3 - q1) + (q3 - q1) / 2;
}

void tpa_steps_result(struct tpa_steps *steps, double tick_ns, struct tpa_step_stats *stats)
{
	uint64_t p50 = tpa_histogram_percentile(&steps->durations, 0.5), fence = fence_of(&steps->durations);
	uint64_t p99 = tpa_histogram_percentile(&steps->durations, 0.99);

	steps->first_ns = tpa_round((double)steps->first_ns * tick_ns);
	tpa_histogram_scale(&steps->durations, tick_ns);
	tpa_moments_scale(&steps->later, tick_ns);
	*stats = (struct tpa_step_stats){
		.count = steps->ended,
		.items = steps->items,
		.first_ns = steps->first_ns,
		.min_ns = steps->durations.min,
		.p50_ns = tpa_round((double)p50 * tick_ns),
		.p99_ns = tpa_round((double)p99 * tick_ns),
		.max_ns = steps->durations.max,
		.ends_ns = { steps->ends_ns[0], steps->ends_ns[1] },
		.list = steps->list,
		.list_count = steps->count,
	};
	steps->list = NULL;
	leave_out_warmup(steps, stats);
	find_interval(steps, tick_ns, stats);
	tpa_step_ops_result(&steps->ops, fence, tick_ns, stats);
}

void tpa_steps_archive(struct tpa_archive *archive, struct tpa_steps *steps)
{
	struct tpa_steps kept = *steps;
	size_t room = TPA_STEP_MAX;
	bool any = steps->list != NULL;

	TPA_ARCHIVE(archive, kept);
	TPA_ARCHIVE(archive, any);
	if (archive->loading) { /* except what the struct points to */
		*steps = kept;
		steps->list = NULL;
		steps->count = 0;
		steps->durations = (struct tpa_histogram){ 0 };
	}
	if (any)
		tpa_archive_array(archive, &steps->list, &steps->count, &room, sizeof(*steps->list));
	tpa_archive_check(archive, steps->count <= TPA_STEP_MAX && (!any || steps->span), "steps are out of range");
	tpa_histogram_archive(archive, &steps->durations);
	tpa_step_ops_archive(archive, &steps->ops);
}

struct tpa_born tpa_steps_at(const struct tpa_step_stats *stats, uint64_t ns)
{
	size_t at;

	if (!stats->list_count)
		return (struct tpa_born){ 0, 0 };
	/* The first step that ends then or later. Most stacks are of the start, before all steps. */
	at = ns <= stats->list[0].end_ns ? 0 : TPA_BELOW(stats->list, stats->list_count, end_ns, ns);
	if (at == stats->list_count)
		return (struct tpa_born){ stats->count + 1, stats->count + 1 };
	return (struct tpa_born){ stats->list[at].first, stats->list[at].first + stats->list[at].steps - 1 };
}

void tpa_steps_result_free(struct tpa_step_stats *stats)
{
	free(stats->list);
	free(stats->ops);
	free(stats->outliers);
}
