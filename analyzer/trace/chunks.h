/* SPDX-License-Identifier: Apache-2.0 */
/* The event chunks of an open trace, as their headers describe them. */
#ifndef TPROF_TRACE_CHUNKS_H
#define TPROF_TRACE_CHUNKS_H

#include "trace/trace.h"

#define TPA_COST_SHARE 64.0   /* one event in so many is timed (tprof-trace(5)) */
#define TPA_COST_SAMPLES 8u   /* timed events from which a chunk's cost is estimated */
#define TPA_COST_NEIGHBOURS 3 /* chunks of a thread of which the median is taken */
#define TPA_MOMENTS 60u	      /* clock moments that are kept: more add nothing, and their pairs are quadratic */

/* An event chunk whose header is sound. */
struct tpa_chunk {
	uint64_t offset;    /* of the chunk's header in the file */
	uint64_t committed; /* bytes behind the header that may be read: within the chunk and the file */
	struct tprof_moment begin;
	uint32_t thread, tid;
	/* Of its header: what recording its events cost, and which of them were timed. */
	uint64_t overhead_ticks, overhead_samples;
	uint64_t free_ticks, free_samples;
	uint32_t timed[TPROF_CHUNK_TIMED];
	uint32_t free_timed;
	bool gone; /* it is no longer in the file */
	bool read; /* of one that is gone: a saved state has shown that it was read to its end */
	/* See trace/chunk_cost.c: ticks that recording one event took. */
	double event_cost, free_cost;
};

/* Sums over the chunks that are gone and that no later result depends on: a saved state does not grow with their number. */
struct tpa_gone {
	uint64_t count, committed;
	uint64_t last;				  /* ticks: when the last of them began */
	double recording_ticks, recorded;	  /* what recording cost, and how many events that is */
	struct tprof_moment moments[TPA_MOMENTS]; /* see tpa_clock_moments() */
};

struct tpa_chunks {
	struct tpa_chunk *list;
	size_t count, room;
	struct tpa_gone gone; /* not in the list */
};

/* Event chunks in order of `begin`. */
const struct tpa_chunks *tpa_trace_chunks(const struct tpa_trace *trace);

/* Whether all chunks are in the file, so that the events can be read again from their begin. */
bool tpa_chunks_are_whole(const struct tpa_chunks *chunks);

/* Bytes of the events of the chunks in the list. */
uint64_t tpa_chunks_bytes(const struct tpa_chunks *chunks);

/* What recording the events of all chunks cost, in ticks. */
double tpa_chunks_recording(const struct tpa_chunks *chunks);

/*
 * Saves the list of event chunks. Loading adds those that are no longer in the file: they count as before, but their
 * events can't be read. No reader of events may be open then, unless the file has all chunks.
 */
struct tpa_archive;
void tpa_chunks_archive(struct tpa_archive *archive, struct tpa_trace *trace);

#endif
