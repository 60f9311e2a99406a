/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What recording the events of each chunk cost the program. The collector times one event in 64 and says for each chunk what
 * these took, so the cost is known where and when it arose: new stacks cost ten times what known ones do. A free costs less
 * than other events, which have a stack.
 *
 * One interrupted event would spoil its chunk's mean. Therefore a mean that is more than twice that of some of the chunk's events,
 * without those that took INTERRUPTED times their median, is replaced by the latter; and the cost of a chunk's events is the
 * median of that chunk and of those before it in the same thread. Later chunks are not looked at: the cost stays what it
 * is once the chunk is full.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "trace/impl.h"

#define INTERRUPTED 32
#define TRUSTED 3u /* timed events among which an interrupted one stands out */

/* Which of a chunk's timed events. */
enum which {
	ALL,
	FREES,
	OTHERS,
};

/* Of two the smaller one: what was disturbed took longer. Sorts the list. */
static double median(double *list, size_t count)
{
	TPA_SORT_NUMBERS(list, count);
	return list[(count - 1) / 2];
}

/* The mean of the events whose times are known one by one, without interrupted ones; 0: there are too few. */
static double undisturbed(const struct tpa_chunk *chunk, enum which which)
{
	double list[TPROF_CHUNK_TIMED], limit, sum = 0;
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < TPROF_CHUNK_TIMED && chunk->timed[i]; i++)
		if (which == ALL || which == (chunk->free_timed >> i & 1 ? FREES : OTHERS))
			list[count++] = chunk->timed[i];
	if (count < TRUSTED)
		return 0;
	limit = INTERRUPTED * median(list, count); /* they are sorted now */
	for (; kept < count && list[kept] <= limit; kept++)
		sum += list[kept];
	return sum / (double)kept;
}

static double part(double all, double frees, enum which which)
{
	frees = fmin(frees, all);
	return which == ALL ? all : which == FREES ? frees : all - frees;
}

static double samples_of(const struct tpa_chunk *chunk, enum which which)
{
	return part((double)chunk->overhead_samples, (double)chunk->free_samples, which);
}

static double mean_of(const struct tpa_chunk *chunk, enum which which)
{
	double ticks = part((double)chunk->overhead_ticks, (double)chunk->free_ticks, which) / TPA_COST_SHARE;
	double mean = ticks / fmax(samples_of(chunk, which), 1), plain = undisturbed(chunk, which);

	return plain > 0 && mean > 2 * plain ? plain : mean;
}

static bool is_timed(const struct tpa_chunk *chunk)
{
	return chunk->overhead_samples >= TPA_COST_SAMPLES;
}

/* A free's cost as a part of another event's; 0: too few of either were timed. */
static double free_share(const struct tpa_chunk *chunk)
{
	double others = mean_of(chunk, OTHERS);

	if (samples_of(chunk, FREES) < TPA_COST_SAMPLES || samples_of(chunk, OTHERS) < TPA_COST_SAMPLES || others <= 0)
		return 0;
	return fmin(mean_of(chunk, FREES) / others, 1);
}

/* Sets the chunk's costs from the last timed chunks of its thread, which include itself if it is timed. */
static void set_cost(struct tpa_chunk *chunk, struct tpa_chunk *const *recent, size_t count)
{
	double shares[TPA_COST_NEIGHBOURS], costs[TPA_COST_NEIGHBOURS], share = 1;
	size_t known = 0;

	for (size_t i = 0; i < count; i++)
		if ((shares[known] = free_share(recent[i])) > 0)
			known++;
	if (known)
		share = median(shares, known);
	for (size_t i = 0; i < count; i++) {
		double frees = samples_of(recent[i], FREES) / samples_of(recent[i], ALL);

		costs[i] = mean_of(recent[i], ALL) / (1 + frees * (share - 1));
	}
	chunk->event_cost = count ? median(costs, count) : 0;
	chunk->free_cost = share * chunk->event_cost;
}

static int by_thread(const void *a, const void *b)
{
	const struct tpa_chunk *x = *(struct tpa_chunk *const *)a, *y = *(struct tpa_chunk *const *)b;

	return TPA_UP(x->thread, y->thread) ?: TPA_UP(x, y);
}

/* The chunks in order of thread and begin; the caller frees the list. */
static struct tpa_chunk **list_by_thread(const struct tpa_chunks *chunks)
{
	struct tpa_chunk **list = tpa_zalloc(chunks->count + 1, sizeof(struct tpa_chunk *));

	for (size_t i = 0; i < chunks->count; i++)
		list[i] = &chunks->list[i];
	qsort(list, chunks->count, sizeof(struct tpa_chunk *), by_thread);
	return list;
}

void tpa_chunks_find_costs(struct tpa_chunks *chunks)
{
	struct tpa_chunk **order = list_by_thread(chunks), *recent[TPA_COST_NEIGHBOURS];
	size_t count = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		if (i && order[i]->thread != order[i - 1]->thread)
			count = 0;
		if (is_timed(order[i])) {
			if (count == TPA_COST_NEIGHBOURS)
				memmove(recent, recent + 1, --count * sizeof(*recent));
			recent[count++] = order[i];
		}
		set_cost(order[i], recent, count);
	}
	free(order);
}

/* ---- the sum ---- */

/* Whether an interrupted event among its timed ones would have been left out. */
static bool is_trusted(const struct tpa_chunk *chunk)
{
	return is_timed(chunk) || undisturbed(chunk, ALL) > 0;
}

double tpa_chunks_usual(const struct tpa_chunks *chunks)
{
	double ticks = chunks->gone.recording_ticks, events = chunks->gone.recorded;

	for (size_t i = 0; i < chunks->count; i++) {
		if (!is_trusted(&chunks->list[i]))
			continue;
		ticks += tpa_chunk_recording(&chunks->list[i], 0);
		events += TPA_COST_SHARE * (double)chunks->list[i].overhead_samples;
	}
	return events > 0 ? ticks / events : 0;
}

double tpa_chunk_recording(const struct tpa_chunk *chunk, double usual)
{
	double mean = mean_of(chunk, ALL), events = TPA_COST_SHARE * (double)chunk->overhead_samples;

	if (usual > 0 && mean > INTERRUPTED * usual && !is_trusted(chunk))
		mean = usual;
	return rint(events * mean); /* whole numbers, so that a sum does not depend on their order */
}

double tpa_chunks_recording(const struct tpa_chunks *chunks)
{
	double usual = tpa_chunks_usual(chunks), sum = chunks->gone.recording_ticks;

	for (size_t i = 0; i < chunks->count; i++)
		sum += tpa_chunk_recording(&chunks->list[i], usual);
	return sum;
}

/* ---- chunks that are gone ---- */

bool *tpa_chunks_needed(const struct tpa_chunks *chunks)
{
	struct tpa_chunk **order = list_by_thread(chunks);
	bool *needed = tpa_zalloc(chunks->count, sizeof(*needed));
	size_t later = 0;

	for (size_t i = chunks->count; i-- > 0;) {
		const struct tpa_chunk *chunk = order[i];

		if (i + 1 < chunks->count && order[i + 1]->thread != chunk->thread)
			later = 0;
		needed[chunk - chunks->list] = !chunk->gone || (is_timed(chunk) && later < TPA_COST_NEIGHBOURS - 1);
		later += chunk->gone && is_timed(chunk);
	}
	free(order);
	return needed;
}
