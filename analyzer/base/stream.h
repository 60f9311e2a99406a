/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of small records that are written once and then read once, in order. Several threads may write streams of one store, each
 * stream one thread. The store keeps an amount of them in memory, and what goes beyond that in a temporary file without a name, in
 * $TMPDIR or /var/tmp; where none can be written, in memory.
 */
#ifndef TPROF_BASE_STREAM_H
#define TPROF_BASE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TPA_STREAM_RECORD 256u /* bytes of a record at most; so many may be read behind each, too */

struct tpa_store;

/* `memory`: bytes of full blocks that stay in memory. */
struct tpa_store *tpa_store_new(size_t memory);

/* Its streams must have been freed. NULL is ignored. */
void tpa_store_free(struct tpa_store *store);

struct tpa_stream_block {
	uint8_t *bytes;	 /* NULL: in the file */
	uint64_t offset; /* in the file */
	size_t used;
	bool counted; /* it is of full size, and counts in what the store keeps while it has bytes */
};

struct tpa_stream {
	struct tpa_store *store;
	uint8_t *block; /* that is filled */
	size_t used, room;
	struct tpa_stream_block *blocks; /* full ones, and at the end the last */
	size_t count, block_room;
	size_t next; /* block to be read */
	uint8_t *loaded;
	const uint8_t *at, *end;
};

void tpa_stream_init(struct tpa_stream *stream, struct tpa_store *store);
void tpa_stream_free(struct tpa_stream *stream);

/* Begins a new block; for tpa_stream_record(). */
void tpa_stream_turn(struct tpa_stream *stream);

/* Room for a record. tpa_stream_wrote() says where it ended. */
static inline uint8_t *tpa_stream_record(struct tpa_stream *stream)
{
	if (__builtin_expect(stream->room - stream->used < TPA_STREAM_RECORD, 0))
		tpa_stream_turn(stream);
	return stream->block + stream->used;
}

static inline void tpa_stream_wrote(struct tpa_stream *stream, const uint8_t *end)
{
	stream->used = (size_t)(end - stream->block);
}

/* All is written. The first block is loaded by tpa_stream_more(). */
void tpa_stream_close(struct tpa_stream *stream);

/* Loads the next block: false if there is none. If the file can't be read any more, ends the analyzer with a message. */
bool tpa_stream_load(struct tpa_stream *stream);

/* Whether there is another record, which then begins at stream->at. The reader sets that to its end. */
static inline bool tpa_stream_more(struct tpa_stream *stream)
{
	return __builtin_expect(stream->at < stream->end, 1) || tpa_stream_load(stream);
}

#endif
