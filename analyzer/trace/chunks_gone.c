/* SPDX-License-Identifier: Apache-2.0 */
/* Event chunks that were read and are no longer in the file. A saved state keeps what later results need of them. */
#include <math.h>
#include <stdlib.h>

#include "base/archive.h"
#include "trace/impl.h"

#define BYTES_MAX (UINT64_C(1) << 56) /* limit of sums in a saved state, so that adding to them does not overflow */

bool tpa_chunks_are_whole(const struct tpa_chunks *chunks)
{
	bool whole = !chunks->gone.count;

	for (size_t i = 0; i < chunks->count; i++)
		whole = whole && !chunks->list[i].gone;
	return whole;
}

uint64_t tpa_chunks_bytes(const struct tpa_chunks *chunks)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < chunks->count; i++)
		bytes += chunks->list[i].committed;
	return bytes;
}

void tpa_chunks_keep(struct tpa_trace_impl *impl, const struct tpa_chunks *before)
{
	struct tpa_chunks *chunks = &impl->events;
	size_t at = 0, count = chunks->count;

	for (size_t i = 0; i < before->count; i++) {
		const struct tpa_chunk *chunk = &before->list[i];

		while (at < count && tpa_chunks_by_begin(&chunks->list[at], chunk) < 0)
			at++;
		if (at < count && tpa_chunks_by_begin(&chunks->list[at], chunk) == 0)
			continue;
		tpa_grow(&chunks->list, &chunks->room, chunks->count + 1, sizeof(*chunks->list));
		chunks->list[chunks->count] = *chunk;
		chunks->list[chunks->count].read = chunk->gone;
		chunks->list[chunks->count++].gone = true;
	}
	chunks->gone = before->gone;
	tpa_chunks_settle(impl);
	tpa_clock_fit(impl);
}

/* ---- saving ---- */

static void forget(struct tpa_gone *gone, const struct tpa_chunk *chunk, double usual)
{
	gone->count++;
	gone->committed += chunk->committed;
	gone->last = chunk->begin.ticks > gone->last ? chunk->begin.ticks : gone->last;
	gone->recording_ticks += tpa_chunk_recording(chunk, usual);
	gone->recorded += TPA_COST_SHARE * (double)chunk->overhead_samples;
}

/* The chunks without those that are no longer needed, which become sums; the caller frees the list. */
static struct tpa_chunks condensed(const struct tpa_trace_impl *impl)
{
	const struct tpa_chunks *all = &impl->events;
	struct tpa_chunks few = { .list = tpa_zalloc(all->count, sizeof(*few.list)), .gone = all->gone };
	double usual = tpa_chunks_usual(all);
	bool *needed = tpa_chunks_needed(all), first = true;

	for (size_t i = 0; i < all->count; i++) {
		const struct tpa_chunk *chunk = &all->list[i];
		/* tpa_trace_about() depends on the file's first chunk. */
		bool is_first = first && chunk->offset == impl->header_size;

		first = first && !is_first;
		if (needed[i] || is_first)
			few.list[few.count++] = *chunk;
		else
			forget(&few.gone, chunk, usual);
	}
	if (few.gone.count)
		tpa_clock_moments(impl, few.gone.moments);
	free(needed);
	return few;
}

/* ---- loading ---- */

static bool is_valid(const struct tpa_trace_impl *impl, const struct tpa_chunk *chunk)
{
	return chunk->offset >= impl->header_size && chunk->offset < impl->trace.file_bytes &&
	       (chunk->offset - impl->header_size) % impl->chunk_size == 0 &&
	       chunk->committed <= impl->chunk_size - sizeof(struct tprof_chunk);
}

static bool is_valid_sum(const struct tpa_gone *gone)
{
	return gone->count < BYTES_MAX / sizeof(struct tprof_chunk) && gone->committed < BYTES_MAX &&
	       isfinite(gone->recording_ticks) && gone->recording_ticks >= 0 && isfinite(gone->recorded) &&
	       gone->recorded >= 0;
}

/* The saved state decides which chunks are gone. */
static void drop_gone(struct tpa_chunks *chunks)
{
	size_t count = 0;

	for (size_t i = 0; i < chunks->count; i++)
		if (!chunks->list[i].gone)
			chunks->list[count++] = chunks->list[i];
	chunks->count = count;
}

void tpa_chunks_archive(struct tpa_archive *archive, struct tpa_trace *trace)
{
	struct tpa_trace_impl *impl = tpa_impl(trace);
	struct tpa_chunks chunks = { 0 };

	if (!archive->loading)
		chunks = condensed(impl);
	TPA_ARCHIVE(archive, chunks.gone);
	tpa_archive_array(archive, &chunks.list, &chunks.count, &chunks.room, sizeof(*chunks.list));
	for (size_t i = 0; archive->loading && i < chunks.count; i++)
		tpa_archive_check(archive,
				  is_valid(impl, &chunks.list[i]) &&
					  (!i || tpa_chunks_by_begin(&chunks.list[i - 1], &chunks.list[i]) < 0),
				  "a chunk of the saved state is out of range");
	tpa_archive_check(archive, is_valid_sum(&chunks.gone), "the saved state's sum of chunks is out of range");
	if (archive->loading && !archive->failed) {
		drop_gone(&impl->events);
		tpa_chunks_keep(impl, &chunks);
	}
	free(chunks.list);
}
