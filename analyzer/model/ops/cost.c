/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ops/cost.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/stats/stats.h"
#include "trace/chunks.h"

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

static bool is_timed(const struct tpa_chunk *chunk, uint32_t thread)
{
	return chunk->thread == thread && chunk->overhead_samples >= TPA_COST_SAMPLES;
}

/* Which of a chunk's timed events. */
enum which {
	ALL,
	FREES,
	OTHERS,
};

/* Of those that are there one by one. Returns how many there are. */
static size_t timed_events(const struct tpa_chunk *chunk, enum which which, double list[static TPROF_CHUNK_TIMED])
{
	size_t count = 0;

	for (size_t i = 0; i < TPROF_CHUNK_TIMED && chunk->timed[i]; i++) {
		enum which is = chunk->free_timed >> i & 1 ? FREES : OTHERS;

		if (which == ALL || which == is)
			list[count++] = chunk->timed[i];
	}
	return count;
}

/* The mean without those that took out of all proportion to the others; 0: there are fewer than `least`. Sorts the list. */
static double undisturbed(double *list, size_t count, size_t least)
{
	double limit, sum = 0;
	size_t kept = 0;

	if (count < least)
		return 0;
	limit = TPA_COST_INTERRUPTED * median(list, count); /* they are sorted now */
	for (; kept < count && list[kept] <= limit; kept++)
		sum += list[kept];
	return sum / (double)kept;
}

static double samples_of(const struct tpa_chunk *chunk, enum which which)
{
	double all = (double)chunk->overhead_samples, frees = fmin((double)chunk->free_samples, all);

	return which == ALL ? all : which == FREES ? frees : all - frees;
}

static double ticks_of(const struct tpa_chunk *chunk, enum which which)
{
	double all = (double)chunk->overhead_ticks / TPA_COST_SHARE;
	double frees = fmin((double)chunk->free_ticks / TPA_COST_SHARE, all);

	return which == ALL ? all : which == FREES ? frees : all - frees;
}

/* One that was interrupted may be most of the sum: then it is not believed. */
static double mean_of(const struct tpa_chunk *chunk, enum which which)
{
	double list[TPROF_CHUNK_TIMED], mean = ticks_of(chunk, which) / samples_of(chunk, which);
	double plain = undisturbed(list, timed_events(chunk, which, list),
				   which == ALL ? TPA_COST_SAMPLES : TPA_COST_SAMPLES / 2);

	return plain > 0 && mean > 2 * plain ? plain : mean;
}

/* The same of an event that is no free, if one of those takes `frees` times as long. */
static double other_mean(const struct tpa_chunk *chunk, double frees)
{
	return mean_of(chunk, ALL) / (1 + samples_of(chunk, FREES) / samples_of(chunk, ALL) * (frees - 1));
}

/* Ticks of an event that is no free: of the nearest chunks of the same thread, itself among them. Negative: there are none. */
static double nearby(const struct tpa_chunks *chunks, size_t at, double frees)
{
	double list[TPA_COST_NEIGHBOURS];
	uint32_t thread = chunks->list[at].thread;
	size_t found = 0, reach = 8 * TPA_COST_NEIGHBOURS;

	for (size_t far = 0; far <= reach && found < TPA_COST_NEIGHBOURS; far++) {
		if (far <= at && is_timed(&chunks->list[at - far], thread))
			list[found++] = other_mean(&chunks->list[at - far], frees);
		if (far && far < chunks->count - at && found < TPA_COST_NEIGHBOURS &&
		    is_timed(&chunks->list[at + far], thread))
			list[found++] = other_mean(&chunks->list[at + far], frees);
	}
	return found ? median(list, found) : -1;
}

/* Over the whole trace, the median of all chunks, for those with too few timed events. */
static double usual_ticks(const struct tpa_chunks *chunks, enum which which)
{
	double *list = tpa_zalloc(chunks->count, sizeof(*list)), ticks = 0, samples = 0, result;
	size_t found = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		const struct tpa_chunk *chunk = &chunks->list[i];

		ticks += ticks_of(chunk, which);
		samples += samples_of(chunk, which);
		if (samples_of(chunk, which) >= TPA_COST_SAMPLES)
			list[found++] = mean_of(chunk, which);
	}
	/* A few timed events are no estimate: one that was interrupted would take whole ops out. */
	result = found ? median(list, found) : samples >= TPA_COST_SAMPLES ? ticks / samples : 0;
	free(list);
	return result;
}

/* Of all chunks' timed events together, as undisturbed(). */
static double common_mean(const struct tpa_chunks *chunks)
{
	double *list = tpa_zalloc(chunks->count, TPROF_CHUNK_TIMED * sizeof(*list)), mean;
	size_t count = 0;

	for (size_t i = 0; i < chunks->count; i++)
		count += timed_events(&chunks->list[i], ALL, list + count);
	mean = undisturbed(list, count, TPA_COST_SAMPLES);
	free(list);
	return mean;
}

uint64_t tpa_cost_recording(const struct tpa_trace *trace)
{
	const struct tpa_chunks *chunks = tpa_trace_chunks(trace);
	double common = common_mean(chunks), sum = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		const struct tpa_chunk *chunk = &chunks->list[i];
		double mean = chunk->overhead_samples ? mean_of(chunk, ALL) : 0;

		if (chunk->overhead_samples < TPA_COST_SAMPLES && common > 0 && mean > TPA_COST_INTERRUPTED * common)
			mean = common;
		sum += TPA_COST_SHARE * (double)chunk->overhead_samples * mean;
	}
	return tpa_round(sum) + trace->header->other_ticks;
}

/*
 * How many times as long as another event a free takes to record: it has no stack. 1 if too few of either were timed, or if the
 * trace does not say which were.
 */
static double frees_share(const struct tpa_chunks *chunks)
{
	double frees = usual_ticks(chunks, FREES), others = usual_ticks(chunks, OTHERS);

	return frees > 0 && others > 0 ? fmin(frees / others, TPA_COST_SHARE) : 1;
}

void tpa_cost_init(struct tpa_cost *cost, const struct tpa_trace *trace)
{
	const struct tpa_chunks *chunks = tpa_trace_chunks(trace);
	double usual;

	*cost = (struct tpa_cost){ .first = trace->header->header_size, .size = trace->header->chunk_size, .frees = 1 };
	if (trace->op_count < 2 || !chunks->count)
		return;
	cost->op_inside = trace->header->op_inside_ticks;
	cost->op_outside = trace->header->op_outside_ticks;
	cost->fold_inside = trace->header->fold_inside_ticks;
	cost->fold_outside = trace->header->fold_outside_ticks;
	cost->fold_untimed = trace->header->fold_untimed_ticks;
	cost->work = trace->header->work_ticks;
	cost->frees = frees_share(chunks);
	usual = usual_ticks(chunks, OTHERS);
	if (usual <= 0) /* of frees alone */
		usual = usual_ticks(chunks, ALL);
	cost->usual = usual;
	if (cost->usual <= 0)
		return;
	for (size_t i = 0; i < chunks->count; i++) {
		uint64_t chunk = (chunks->list[i].offset - cost->first) / cost->size;

		cost->count = chunk >= cost->count ? (size_t)chunk + 1 : cost->count;
	}
	cost->chunks = tpa_zalloc(cost->count, sizeof(*cost->chunks));
	for (size_t i = 0; i < chunks->count; i++) {
		double ticks = nearby(chunks, i, cost->frees);

		cost->chunks[(chunks->list[i].offset - cost->first) / cost->size] = ticks < 0 ? usual : ticks;
	}
}

void tpa_cost_free(struct tpa_cost *cost)
{
	free(cost->chunks);
}
