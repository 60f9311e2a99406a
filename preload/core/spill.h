/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that the disk has no room for now. Each is set aside in memory, with the place in the file that will be its, and
 * put there once there is room: a disk that is full for a while costs no event. What is still aside when the process is
 * killed is lost with it, so header.chunks_aside says how many there are.
 */
#ifndef TPROF_CORE_SPILL_H
#define TPROF_CORE_SPILL_H

#include <tprof/format.h>

#include "core/base.h"

#define TPC_SPILL_AT_ONCE 8u /* put into the file in one go, so that no thread is held up for long */
#define TPC_SPILL_MOST 1024u /* 64 MiB: some ten million events, which is minutes of a training run */

typedef TPC_SHARED(char *) tpc_spill_memory;
extern tpc_spill_memory tpc_spill_area; /* where they lie; NULL: there was none yet */

/* Zeroed memory for the chunk of that place in the file. NULL: that many are aside, or there is no memory. Any thread. */
TPC_SLOW struct tprof_chunk *tpc_spill_take(enum tprof_chunk_kind kind, uint64_t offset);

/* A chunk of tables could not be had at all: what refers to their records does so in vain (header.tables_from). */
TPC_SLOW void tpc_spill_no_tables(void);

/* Its writer is done with it. False: it was never aside. */
bool tpc_spill_give(struct tprof_chunk *chunk);

/* Is there anything aside? */
bool tpc_spill_waits(void);

/*
 * Puts up to `most` where they belong, as far as there is room: tables, also those that are written to, then events that are
 * full.
 */
TPC_SLOW void tpc_spill_write(unsigned int most);

/*
 * A chunk of tables that was aside and is in the file by now, whole: its next writer takes another one.
 * Who was writing to it then says so, when its record is committed and before anybody is shown its number.
 */
TPC_SLOW bool tpc_spill_is_copied(const struct tprof_chunk *chunk);
TPC_SLOW void tpc_spill_wrote(const struct tprof_chunk *chunk);

/*
 * A chunk of events, by its writer: its address stays, what is behind it is the file. NULL, and a chunk that is not aside, is
 * let be.
 */
TPC_SLOW void tpc_spill_settle(struct tprof_chunk *chunk);

/* At the process's end: all of them; where there is no room even now, recording ended with the first of those. */
TPC_SLOW void tpc_spill_end(void);

/* In a forked child: they are the parent's. Before their writers are made to give theirs. */
void tpc_spill_forget(void);

#endif
