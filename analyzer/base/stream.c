/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/read_at.h"
#include "base/temporary_file.h"

#define BLOCK 16384u /* bytes */
#define FIRST 1024u  /* of a stream that may be short */

struct tpa_store {
	size_t memory;
	_Atomic size_t kept; /* bytes of full blocks in memory */
	pthread_mutex_t lock;
	int file; /* -1: none yet */
	bool failed;
	uint64_t end; /* of the file */
};

struct tpa_store *tpa_store_new(size_t memory)
{
	struct tpa_store *store = tpa_zalloc(1, sizeof(*store));

	store->memory = memory;
	store->file = -1;
	pthread_mutex_init(&store->lock, NULL);
	return store;
}

void tpa_store_free(struct tpa_store *store)
{
	if (!store)
		return;
	if (store->file >= 0)
		close(store->file);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

/* A place for a block in the file. False: there is no file. */
static bool take_place(struct tpa_store *store, uint64_t *place)
{
	bool found;

	pthread_mutex_lock(&store->lock);
	if (store->file < 0 && !store->failed) {
		store->file = tpa_temporary_file("/var/tmp");
		store->failed = store->file < 0;
	}
	found = !store->failed;
	*place = store->end;
	store->end += found ? BLOCK : 0;
	pthread_mutex_unlock(&store->lock);
	return found;
}

void tpa_stream_init(struct tpa_stream *stream, struct tpa_store *store)
{
	*stream = (struct tpa_stream){ .store = store };
}

static void drop_block(struct tpa_stream *stream, struct tpa_stream_block *block)
{
	if (block->bytes && block->counted)
		atomic_fetch_sub(&stream->store->kept, BLOCK);
	free(block->bytes);
	block->bytes = NULL;
}

void tpa_stream_free(struct tpa_stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		drop_block(stream, &stream->blocks[i]);
	free(stream->blocks);
	free(stream->block);
	free(stream->loaded);
	*stream = (struct tpa_stream){ .store = stream->store };
}

/* Adds the block that is filled to the list. */
static void add_block(struct tpa_stream *stream)
{
	struct tpa_stream_block block = { .bytes = stream->block, .used = stream->used };
	struct tpa_store *store = stream->store;

	block.counted = stream->room == BLOCK;
	if (block.counted && atomic_fetch_add(&store->kept, BLOCK) >= store->memory &&
	    take_place(store, &block.offset) && tpa_write_at(store->file, stream->block, stream->used, block.offset)) {
		atomic_fetch_sub(&store->kept, BLOCK);
		block.bytes = NULL;
	}
	*TPA_APPEND(stream->blocks, stream->count, stream->block_room) = block;
	if (block.bytes)
		stream->block = NULL;
	stream->used = stream->room = 0;
}

void tpa_stream_turn(struct tpa_stream *stream)
{
	if (stream->room == BLOCK)
		add_block(stream);
	stream->room = stream->room ? 2 * stream->room : stream->count ? BLOCK : FIRST;
	if (stream->count && stream->block)
		return; /* the block was written, and is used again */
	stream->block = tpa_resize(stream->block, stream->room + TPA_STREAM_RECORD, 1);
}

void tpa_stream_close(struct tpa_stream *stream)
{
	if (stream->used)
		add_block(stream);
	free(stream->block);
	stream->block = NULL;
}

bool tpa_stream_load(struct tpa_stream *stream)
{
	struct tpa_stream_block *block = &stream->blocks[stream->next];

	if (stream->next)
		drop_block(stream, &stream->blocks[stream->next - 1]);
	if (stream->next == stream->count) {
		stream->at = stream->end = NULL;
		return false;
	}
	if (!block->bytes) {
		if (!stream->loaded)
			stream->loaded = tpa_zalloc(BLOCK + TPA_STREAM_RECORD, 1);
		if (tpa_read_at(stream->store->file, stream->loaded, block->used, block->offset) < block->used) {
			fputs("tprof-analyze: the temporary file can't be read\n", stderr);
			exit(3);
		}
	}
	stream->at = block->bytes ? block->bytes : stream->loaded;
	stream->end = stream->at + block->used;
	stream->next++;
	return true;
}
