/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cost.h"

#include <stdlib.h>

#include "trace/impl.h"

/* Nanoseconds of a tick, as fitted. */
static double tick_ns(const struct tp_trace *trace)
{
	uint64_t span = UINT64_C(1) << 32;

	return (double)tp_trace_ns(trace, trace->header->start.ticks + span) / (double)span;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *list, size_t count)
{
	qsort(list, count, sizeof(*list), by_value);
	return count % 2 ? list[count / 2] : (list[count / 2 - 1] + list[count / 2]) / 2;
}

static bool is_timed(const struct tp_chunk *chunk, uint32_t thread)
{
	return chunk->thread == thread && chunk->overhead_samples >= TP_COST_SAMPLES;
}

/* Of the events that are there one by one, without those that took out of all proportion to the others; 0: there are none. */
static double undisturbed(const struct tp_chunk *chunk)
{
	double list[TPROF_CHUNK_TIMED], limit, sum = 0;
	size_t count = 0, kept = 0;

	while (count < TPROF_CHUNK_TIMED && chunk->timed[count]) {
		list[count] = chunk->timed[count];
		count++;
	}
	if (count < TP_COST_SAMPLES)
		return 0;
	limit = TP_COST_INTERRUPTED * median(list, count); /* they are sorted now */
	for (; kept < count && list[kept] <= limit; kept++)
		sum += list[kept];
	return sum / (double)kept;
}

/* One that was interrupted may be most of the sum: then it is not believed. */
static double mean_of(const struct tp_chunk *chunk)
{
	double mean = (double)chunk->overhead_ticks / (64 * (double)chunk->overhead_samples),
	       plain = undisturbed(chunk);

	return plain > 0 && mean > 2 * plain ? plain : mean;
}

/* Ticks an event: of the nearest chunks of the same thread, itself among them. Negative: there are none. */
static double nearby(const struct tp_chunks *chunks, size_t at)
{
	double list[TP_COST_NEIGHBOURS];
	uint32_t thread = chunks->list[at].thread;
	size_t found = 0, reach = 8 * TP_COST_NEIGHBOURS;

	for (size_t far = 0; far <= reach && found < TP_COST_NEIGHBOURS; far++) {
		if (far <= at && is_timed(&chunks->list[at - far], thread))
			list[found++] = mean_of(&chunks->list[at - far]);
		if (far && far < chunks->count - at && found < TP_COST_NEIGHBOURS &&
		    is_timed(&chunks->list[at + far], thread))
			list[found++] = mean_of(&chunks->list[at + far]);
	}
	return found ? median(list, found) : -1;
}

/* Of chunks with too few timed events of their own, and without neighbours: the median of all chunks. */
static double usual_ticks(const struct tp_chunks *chunks)
{
	double *list = calloc(chunks->count + 1, sizeof(*list)), ticks = 0, samples = 0, result;
	size_t found = 0;

	for (size_t i = 0; list && i < chunks->count; i++) {
		const struct tp_chunk *chunk = &chunks->list[i];

		ticks += (double)chunk->overhead_ticks / 64;
		samples += (double)chunk->overhead_samples;
		if (chunk->overhead_samples >= TP_COST_SAMPLES)
			list[found++] = mean_of(chunk);
	}
	if (!list)
		return -1;
	/* A few timed events are no estimate: one that was interrupted would take whole ops out. */
	result = found ? median(list, found) : samples >= TP_COST_SAMPLES ? ticks / samples : 0;
	free(list);
	return result;
}

bool tp_cost_init(struct tp_cost *cost, const struct tp_trace *trace)
{
	const struct tp_trace_impl *impl = tp_impl(trace);
	double tick = tick_ns(trace), usual;

	*cost = (struct tp_cost){ .first = impl->header_size, .size = impl->chunk_size };
	if (trace->op_count < 2 || !impl->events.count)
		return true;
	cost->op_inside = trace->header->op_inside_ticks * tick;
	cost->op_outside = trace->header->op_outside_ticks * tick;
	cost->fold_inside = trace->header->fold_inside_ticks * tick;
	cost->fold_outside = trace->header->fold_outside_ticks * tick;
	cost->fold_untimed = trace->header->fold_untimed_ticks * tick;
	cost->work = trace->header->work_ticks * tick;
	usual = usual_ticks(&impl->events);
	if (usual < 0)
		return false;
	cost->usual = usual * tick;
	if (cost->usual <= 0)
		return true;
	for (size_t i = 0; i < impl->events.count; i++) {
		uint64_t chunk = (impl->events.list[i].offset - cost->first) / cost->size;

		cost->count = chunk >= cost->count ? (size_t)chunk + 1 : cost->count;
	}
	cost->chunks = calloc(cost->count, sizeof(*cost->chunks));
	for (size_t i = 0; cost->chunks && i < impl->events.count; i++) {
		double ticks = nearby(&impl->events, i);

		cost->chunks[(impl->events.list[i].offset - cost->first) / cost->size] =
			(ticks < 0 ? usual : ticks) * tick;
	}
	return cost->chunks != NULL;
}

void tp_cost_free(struct tp_cost *cost)
{
	free(cost->chunks);
}
