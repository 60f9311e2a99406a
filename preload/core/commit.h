/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a chunk: where records lie, and how the next one becomes valid. */
#ifndef TPROF_CORE_COMMIT_H
#define TPROF_CORE_COMMIT_H

#include <tprof/format.h>

#include "core/base.h"

#include "core/assert.h"

static inline uint8_t *tpc_chunk_bytes(struct tprof_chunk *chunk)
{
	return (uint8_t *)(chunk + 1);
}

static inline uint8_t *tpc_chunk_limit(struct tprof_chunk *chunk)
{
	return (uint8_t *)chunk + TPROF_CHUNK_SIZE;
}

/*
 * Makes the record that ends at `end` valid. Release: a reader that sees the length sees the bytes (pairs with the
 * analyzer's read of `committed`; and the kernel keeps the page whatever becomes of this process).
 */
static inline void tpc_chunk_commit(struct tprof_chunk *chunk, const uint8_t *end)
{
	tpc_assert(end >= tpc_chunk_bytes(chunk) && end <= tpc_chunk_limit(chunk));
	tpc_store_release(&chunk->committed, (uint64_t)(end - tpc_chunk_bytes(chunk)));
}

/* Bytes committed. The file is anybody's to write to who may: a number that can't be is the whole chunk, which is full. */
static inline uint64_t tpc_chunk_committed(const struct tprof_chunk *chunk)
{
	uint64_t committed = tpc_load(&chunk->committed), most = TPROF_CHUNK_SIZE - sizeof(*chunk);

	return committed < most ? committed : most;
}

/* Bytes that one record may take at most (a name, a path and their numbers are the longest: tables check). */
#define TPC_RECORD_MAX 128

#endif
