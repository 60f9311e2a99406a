/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks that are being written: begin, commit, end. A chunk has one writer at a time. */
#ifndef TPROF_CORE_CHUNK_H
#define TPROF_CORE_CHUNK_H

#include <tprof/format.h>

#include "core/commit.h"

/*
 * A new chunk, ready for records. `whole`: its writer has filled one before and will probably fill this one too, so all of its
 * pages are allocated at once, which is cheaper. NULL: recording was
 * stopped, and the reason logged; or a ring is full (core/ring.h).
 */
TPC_SLOW struct tprof_chunk *tpc_chunk_begin(enum tprof_chunk_kind kind, uint32_t thread, uint32_t tid, bool whole);

/* No more records. What was committed is in the file, or will be once the disk has room. */
void tpc_chunk_end(struct tprof_chunk *chunk);

#endif
