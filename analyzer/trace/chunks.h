/* SPDX-License-Identifier: Apache-2.0 */
/* The event chunks of an open trace, as their headers describe them. */
#ifndef TPROF_TRACE_CHUNKS_H
#define TPROF_TRACE_CHUNKS_H

#include "trace/trace.h"

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
	bool gone; /* it was read to its end, and is no longer in the file */
};

struct tpa_chunks {
	struct tpa_chunk *list;
	size_t count, room;
};

/* Event chunks in order of `begin`. */
const struct tpa_chunks *tpa_trace_chunks(const struct tpa_trace *trace);

/*
 * Saves the list of event chunks. Loading adds those that are no longer in the file: they count as before, but their
 * events can't be read. No reader of events may be open then, unless the file has all chunks.
 */
struct tpa_archive;
void tpa_chunks_archive(struct tpa_archive *archive, struct tpa_trace *trace);

#endif
