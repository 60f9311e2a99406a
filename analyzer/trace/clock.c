/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks to nanoseconds. The slope is the weighted median of the slopes between pairs of clock moments (Theil and Sen,
 * with the pair's distance as weight): a moment that was interrupted between its clocks, or is damaged, can't bend it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "trace/impl.h"

#define MOMENTS_MAX (TPA_MOMENTS + 3) /* three are in the header */

struct slope {
	double value, weight;
};

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

/* Nanoseconds a tick; 1 if the moments do not show it. */
static double fit(const struct tprof_moment *moments, size_t count)
{
	static _Thread_local struct slope slopes[MOMENTS_MAX * (MOMENTS_MAX - 1) / 2];
	size_t found = pairs(moments, count, slopes), i;
	double total = 0, sum = 0;

	TPA_SORT(slopes, found, value);
	for (i = 0; i < found; i++)
		total += slopes[i].weight;
	for (i = 0; i < found; i++) {
		sum += slopes[i].weight;
		if (sum >= total / 2)
			return slopes[i].value;
	}
	return 1;
}

static uint64_t latest_begin(const struct tpa_chunks *chunks)
{
	uint64_t latest = chunks->gone.last;

	for (size_t i = 0; i < chunks->count; i++)
		latest = chunks->list[i].begin.ticks > latest ? chunks->list[i].begin.ticks : latest;
	return latest;
}

/* The time since the start in parts of 2^shift ticks, and the first moment of each. */
struct parts {
	uint64_t origin;
	unsigned shift;
	struct tprof_moment *first;
};

static void take(struct parts *parts, const struct tprof_moment *moment)
{
	uint64_t ticks = moment->ticks > parts->origin ? moment->ticks - parts->origin : 0;
	struct tprof_moment *first = &parts->first[ticks >> parts->shift];

	if (!first->ticks || moment->ticks < first->ticks)
		*first = *moment;
}

void tpa_clock_moments(const struct tpa_trace_impl *impl, struct tprof_moment *few)
{
	const struct tpa_chunks *lists[] = { &impl->events, &impl->tables };
	uint64_t last[] = { latest_begin(lists[0]), latest_begin(lists[1]) }, end = last[last[0] < last[1]];
	struct parts parts = { .origin = impl->header.start.ticks, .first = few };

	while (end > parts.origin && (end - parts.origin) >> parts.shift >= TPA_MOMENTS)
		parts.shift++;
	memset(few, 0, TPA_MOMENTS * sizeof(*few));
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			take(&parts, &lists[k]->list[i].begin);
	for (size_t i = 0; i < TPA_MOMENTS; i++) {
		const struct tprof_moment *moment = &impl->events.gone.moments[i];

		if (moment->ticks && moment->ticks <= end)
			take(&parts, moment);
	}
}

void tpa_clock_fit(struct tpa_trace_impl *impl)
{
	const struct tprof_header *header = &impl->header;
	const struct tprof_moment ends[] = { header->start, header->latest,
					     impl->now.ticks ? impl->now : header->finish };
	struct tprof_moment some[MOMENTS_MAX];
	size_t used = 0;
	double slope = 1;

	if (header->clock == TPROF_CLOCK_TSC) {
		tpa_clock_moments(impl, some);
		memcpy(some + TPA_MOMENTS, ends, sizeof(ends));
		for (size_t i = 0; i < MOMENTS_MAX; i++)
			if (some[i].ticks)
				some[used++] = some[i];
		TPA_SORT(some, used, ticks);
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

/* The begin of the file's first chunk, which a saved state keeps; NULL: it is damaged. */
static const struct tprof_moment *first_begin(const struct tpa_trace_impl *impl)
{
	const struct tpa_chunks *lists[] = { &impl->tables, &impl->events };

	if (impl->first.ticks)
		return &impl->first;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			if (lists[k]->list[i].offset == impl->header_size)
				return &lists[k]->list[i].begin;
	return NULL;
}

/* Nanoseconds a tick between the trace's start and its first chunk, which a growing trace does not change. */
static double early_tick_ns(const struct tpa_trace_impl *impl)
{
	const struct tprof_moment *start = &impl->header.start, *begin = first_begin(impl);
	double tick = (double)start->mono_ns / (double)start->ticks;

	if (impl->header.clock != TPROF_CLOCK_TSC)
		return 1;
	if (begin && begin->ticks > start->ticks)
		tick = (double)(begin->mono_ns - start->mono_ns) / (double)(begin->ticks - start->ticks);
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
	uint64_t ticks = latest_begin(chunks);

	if (trace->written)
		return tpa_impl(trace)->now.ticks;
	if (header->end != TPROF_END_NONE && header->finish.ticks)
		return header->finish.ticks;
	return header->latest.ticks > ticks ? header->latest.ticks : ticks;
}
