/* SPDX-License-Identifier: Apache-2.0 */
/* Where records lie in a chunk, and how a new record becomes valid. */
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
 * Makes the record that ends at `end` valid. Release: pairs with the analyzer's read of `committed`; a reader that sees
 * the length sees the bytes. The kernel keeps the page whatever happens to this process.
 */
static inline void tpc_chunk_commit(struct tprof_chunk *chunk, const uint8_t *end)
{
	tpc_assert(end >= tpc_chunk_bytes(chunk) && end <= tpc_chunk_limit(chunk));
	tpc_store_release(&chunk->committed, (uint64_t)(end - tpc_chunk_bytes(chunk)));
}

/* Bytes committed. Other processes may write to the file: an impossible number counts as a full chunk. */
static inline uint64_t tpc_chunk_committed(const struct tprof_chunk *chunk)
{
	uint64_t committed = tpc_load(&chunk->committed), most = TPROF_CHUNK_SIZE - sizeof(*chunk);

	return committed < most ? committed : most;
}

/* The longest record of an event, in bytes. Records of tables may be longer; they check. */
#define TPC_RECORD_MAX 128

#endif
