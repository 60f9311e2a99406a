/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks to nanoseconds. The slope is the weighted median of the slopes between pairs of clock moments (Theil and Sen,
 * with the pair's distance as weight): a moment that was interrupted between its clocks, or is damaged, can't bend it.
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "trace/impl.h"

#define MOMENTS_MAX 64 /* pairs are quadratic; more would add nothing */

struct slope {
	double value, weight;
};

static int by_ticks(const void *a, const void *b)
{
	const struct tprof_moment *x = a, *y = b;

	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

static int by_value(const void *a, const void *b)
{
	const struct slope *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/* No machine's counter runs slower than 1 MHz or faster than 100 GHz. */
static size_t pairs(const struct tprof_moment *moments, size_t count, struct slope *slopes)
{
	size_t i, j, found = 0;

	for (i = 0; i < count; i++) {
		for (j = i + 1; j < count; j++) {
			double ticks = (double)(moments[j].ticks - moments[i].ticks);
			double ns = (double)moments[j].mono_ns - (double)moments[i].mono_ns;

			if (ticks > 0 && ns / ticks > 0.01 && ns / ticks < 1000)
				slopes[found++] = (struct slope){ ns / ticks, ns };
		}
	}
	return found;
}

/* Nanoseconds a tick; 1 if the file does not tell. */
static double fit(const struct tprof_moment *moments, size_t count)
{
	static struct slope slopes[MOMENTS_MAX * (MOMENTS_MAX - 1) / 2];
	size_t found = pairs(moments, count, slopes), i;
	double total = 0, sum = 0;

	qsort(slopes, found, sizeof(*slopes), by_value);
	for (i = 0; i < found; i++)
		total += slopes[i].weight;
	for (i = 0; i < found; i++) {
		sum += slopes[i].weight;
		if (sum >= total / 2)
			return slopes[i].value;
	}
	return 1;
}

/* When each chunk began, in order; the caller frees it. */
static struct tprof_moment *all_moments(const struct tpa_trace_impl *impl, size_t *count)
{
	const struct tpa_chunks *lists[] = { &impl->events, &impl->tables };
	struct tprof_moment *all = tpa_zalloc(lists[0]->count + lists[1]->count, sizeof(*all));

	*count = 0;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			all[(*count)++] = lists[k]->list[i].begin;
	qsort(all, *count, sizeof(*all), by_ticks);
	return all;
}

void tpa_clock_fit(struct tpa_trace_impl *impl)
{
	const struct tprof_header *header = &impl->header;
	struct tprof_moment some[MOMENTS_MAX];
	size_t count, used = 0, i;
	double slope = 1;

	if (header->clock == TPROF_CLOCK_TSC) {
		struct tprof_moment *all = all_moments(impl, &count);

		some[used++] = header->start;
		for (i = 0; i < count && count <= MOMENTS_MAX - 3; i++)
			some[used++] = all[i];
		for (i = 0; i < MOMENTS_MAX - 3 && count > MOMENTS_MAX - 3; i++)
			some[used++] = all[i * (count - 1) / (MOMENTS_MAX - 4)];
		if (header->latest.ticks)
			some[used++] = header->latest;
		if (impl->now.ticks || header->finish.ticks)
			some[used++] = impl->now.ticks ? impl->now : header->finish;
		free(all);
		qsort(some, used, sizeof(*some), by_ticks);
		slope = fit(some, used);
	}
	impl->clock.origin = header->start.ticks;
	impl->clock.mult = (uint64_t)llround(ldexp(slope, 32));
}

uint64_t tpa_trace_ns(const struct tpa_trace *trace, uint64_t ticks)
{
	const struct tpa_clock *clock = &tpa_impl(trace)->clock;
	unsigned __int128 ns;

	if (ticks <= clock->origin)
		return 0;
	ns = (unsigned __int128)(ticks - clock->origin) * clock->mult >> 32;
	return ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

double tpa_trace_tick_ns(const struct tpa_trace *trace)
{
	return ldexp((double)tpa_impl(trace)->clock.mult, -32);
}

/* Of the trace's begin alone: from its start to its first chunk, which is always there. */
static double early_tick_ns(const struct tpa_trace_impl *impl)
{
	const struct tpa_chunks *lists[] = { &impl->tables, &impl->events };
	const struct tprof_moment *start = &impl->header.start;
	double tick = impl->header.clock == TPROF_CLOCK_TSC ? (double)start->mono_ns / (double)start->ticks : 1;

	for (size_t k = 0; k < 2 && impl->header.clock == TPROF_CLOCK_TSC; k++)
		for (size_t i = 0; i < lists[k]->count; i++) {
			const struct tprof_moment *begin = &lists[k]->list[i].begin;

			if (lists[k]->list[i].offset == impl->header_size && begin->ticks > start->ticks)
				tick = (double)(begin->mono_ns - start->mono_ns) /
				       (double)(begin->ticks - start->ticks);
		}
	return tick > 0.01 && tick < 1000 ? tick : 1;
}

uint64_t tpa_trace_about(const struct tpa_trace *trace, uint64_t ns)
{
	return (uint64_t)((double)ns / early_tick_ns(tpa_impl(trace))) >> trace->header->tick_shift;
}

uint64_t tpa_trace_time(const struct tpa_trace *trace, uint64_t ns)
{
	unsigned shift = trace->header->tick_shift;
	uint64_t low = 0, high = UINT64_MAX >> shift;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (tpa_trace_ns(trace, middle << shift) >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t tpa_trace_last(const struct tpa_trace *trace)
{
	const struct tprof_header *header = trace->header;
	const struct tpa_chunks *chunks = &tpa_impl(trace)->events;
	uint64_t ticks = chunks->count ? chunks->list[chunks->count - 1].begin.ticks : 0;

	if (trace->written)
		return tpa_impl(trace)->now.ticks;
	if (header->end != TPROF_END_NONE && header->finish.ticks)
		return header->finish.ticks;
	return header->latest.ticks > ticks ? header->latest.ticks : ticks;
}
