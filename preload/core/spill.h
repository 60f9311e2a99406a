/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that wait in memory while the disk is full. Each has its place in the file and is written there once there is
 * room, so a disk that is full for a while costs no event. Chunks that still wait when the process is killed are lost;
 * header.chunks_aside says how many there are.
 */
#ifndef TPROF_CORE_SPILL_H
#define TPROF_CORE_SPILL_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_SPILL_AT_ONCE 8u /* chunks written in one go, so that no thread waits for long */
#define TPC_SPILL_MOST 1024u /* 64 MiB: some ten million events, which is minutes of a training run */

typedef TPC_SHARED(char *) tpc_spill_memory;
extern tpc_spill_memory tpc_spill_area; /* where they are; NULL: there were none yet */

/*
 * Zeroed memory for the chunk at that offset of the file. NULL: TPC_SPILL_MOST chunks wait already, or there is no
 * memory. Any thread.
 */
TPC_SLOW struct tprof_chunk *tpc_spill_take(enum tprof_chunk_kind kind, uint64_t offset);

/*
 * A chunk of tables could not be allocated at all: events that refer to its records have nothing to refer to
 * (header.tables_from).
 */
TPC_SLOW void tpc_spill_no_tables(void);

/* The writer is done with the chunk. False: it is not one of these. */
bool tpc_spill_give(struct tprof_chunk *chunk);

/* Is any chunk waiting? */
bool tpc_spill_waits(void);

/*
 * Writes up to `most` chunks to the file while there is room: tables first, even those in use, then full chunks of
 * events.
 */
TPC_SLOW void tpc_spill_write(unsigned int most);

/*
 * Was the chunk, of tables, copied to the file completely? Then its next writer takes another one. A thread that was
 * writing to it at that moment calls tpc_spill_wrote() when it has committed its record, before it shows the record's
 * number to others.
 */
TPC_SLOW bool tpc_spill_is_copied(const struct tprof_chunk *chunk);
TPC_SLOW void tpc_spill_wrote(const struct tprof_chunk *chunk);

/*
 * Called by the writer of a chunk of events: replaces the memory at its address by a mapping of the file. Does nothing
 * if `chunk` is NULL or not one of these.
 */
TPC_SLOW void tpc_spill_settle(struct tprof_chunk *chunk);

/*
 * At the end of the process: writes all chunks. If there is still no room, recording ended with the first of those that
 * remain.
 */
TPC_SLOW void tpc_spill_end(void);

/* In a forked child: the chunks are the parent's. To be called before their writers return them. */
void tpc_spill_forget(void);

#endif
