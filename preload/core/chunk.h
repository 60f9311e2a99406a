/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks in the making: begin, commit, end. A chunk has one writer at a time. */
#ifndef TPROF_CORE_CHUNK_H
#define TPROF_CORE_CHUNK_H

#include <tprof/format.h>

#include "core/commit.h"

/*
 * A new chunk, ready to be written to. `whole`: its writer has filled one before, so will most probably fill it: what that
 * costs is then paid at once, which is less. NULL: recording has been stopped, and why was said.
 */
TPC_SLOW struct tprof_chunk *tpc_chunk_begin(enum tprof_chunk_kind kind, uint32_t thread, uint32_t tid, bool whole);

/* Nobody writes to it any more. What was committed stays in the file, or will be there when the disk has room for it. */
void tpc_chunk_end(struct tprof_chunk *chunk);

#endif
