/* SPDX-License-Identifier: Apache-2.0 */
#include "model/steps.h"

#include <stdlib.h>

void tp_steps_free(struct tp_steps *steps)
{
	free(steps->list);
	tp_histogram_free(&steps->durations);
}

void tp_steps_start(struct tp_steps *steps, uint64_t time_ns, uint64_t live_bytes)
{
	steps->begin_ns = time_ns;
	steps->begin_bytes = steps->high = live_bytes;
	steps->begin_flop = steps->flop_seen;
}

static void join(struct tp_step *to, const struct tp_step *from)
{
	to->steps += from->steps;
	to->end_ns = from->end_ns;
	to->end_bytes = from->end_bytes;
	to->items += from->items;
	to->flop += from->flop;
	to->high_bytes = from->high_bytes > to->high_bytes ? from->high_bytes : to->high_bytes;
}

static void halve(struct tp_steps *steps)
{
	for (size_t i = 0; i < steps->count; i += 2) {
		join(&steps->list[i], &steps->list[i + 1]);
		steps->list[i / 2] = steps->list[i];
	}
	steps->count /= 2;
	steps->span *= 2;
}

static bool record(struct tp_steps *steps, const struct tp_step *step)
{
	struct tp_step *last = steps->count ? &steps->list[steps->count - 1] : NULL;

	if (!steps->list) {
		steps->list = calloc(TP_STEP_MAX, sizeof(*steps->list));
		steps->span = 1;
	}
	if (!steps->list)
		return false;
	if (last && last->steps < steps->span) {
		join(last, step);
		return true;
	}
	if (steps->count == TP_STEP_MAX)
		halve(steps);
	steps->list[steps->count++] = *step;
	return true;
}

bool tp_steps_end(struct tp_steps *steps, uint64_t time_ns, uint64_t live_bytes, uint64_t items)
{
	uint64_t duration = time_ns > steps->begin_ns ? time_ns - steps->begin_ns : 0;
	struct tp_step step = {
		.first = ++steps->ended,
		.steps = 1,
		.begin_ns = steps->begin_ns,
		.end_ns = time_ns,
		.begin_bytes = steps->begin_bytes,
		.end_bytes = live_bytes,
		.high_bytes = steps->high > live_bytes ? steps->high : live_bytes,
		.items = items,
		.flop = steps->flop_seen - steps->begin_flop,
	};

	steps->items += items;
	tp_steps_start(steps, time_ns, live_bytes);
	if (!record(steps, &step))
		return false;
	if (steps->ended == 1) {
		steps->first_ns = duration;
		return true;
	}
	steps->flop += step.flop;
	tp_moments_add(&steps->later, (double)duration);
	return tp_histogram_add(&steps->durations, duration);
}

/* 1 below 4096, then 2, 4, ... with each power of two. */
uint64_t tp_step_key_span(uint64_t key)
{
	return key < TP_STEP_MAX ? 1 : UINT64_C(1) << (63 - __builtin_clzll(key) - 11);
}

uint64_t tp_steps_key(const struct tp_steps *steps)
{
	uint64_t step = steps->ended + 1;

	return step & ~(tp_step_key_span(step) - 1);
}

void tp_steps_result(struct tp_steps *steps, struct tp_step_stats *stats)
{
	*stats = (struct tp_step_stats){
		.count = steps->ended,
		.items = steps->items,
		.first_ns = steps->first_ns,
		.flop = steps->flop,
		.durations = steps->later,
		.min_ns = steps->durations.min,
		.p50_ns = tp_histogram_percentile(&steps->durations, 0.5),
		.p99_ns = tp_histogram_percentile(&steps->durations, 0.99),
		.max_ns = steps->durations.max,
		.list = steps->list,
		.list_count = steps->count,
	};
	steps->list = NULL;
}
