/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks that the disk has no room for now. Each is set aside in memory, with the place in the file that will be its, and
 * put there once there is room: a disk that is full for a while costs no event. What is still aside when the process is
 * killed is lost with it, so header.chunks_aside says how many there are.
 */
#ifndef TPROF_CORE_ASIDE_H
#define TPROF_CORE_ASIDE_H

#include <tprof/format.h>

#include "core/base.h"

#define TP_ASIDE_AT_ONCE 8u /* put into the file in one go, so that no thread is held up for long */
#define TP_ASIDE_MOST 1024u /* 64 MiB: some ten million events, which is minutes of a training run */

/* Zeroed memory for the chunk of that place in the file. NULL: that many are aside, or there is no memory. Any thread. */
TP_SLOW struct tprof_chunk *tp_aside_take(uint64_t offset);

/* Its writer is done with it. False: it was never aside. */
bool tp_aside_give(struct tprof_chunk *chunk);

/* Is there anything aside? */
bool tp_aside_waits(void);

/* Puts up to `most` that are full where they belong, as far as there is room. */
TP_SLOW void tp_aside_write(unsigned int most);

/*
 * The same for one that is being written to, by its writer or nobody: its address stays, what is behind it is the file.
 * NULL, and a chunk that is not aside, is let be.
 */
TP_SLOW void tp_aside_settle(struct tprof_chunk *chunk);

/* At the process's end: all of them; where there is no room even now, recording ended with the first of those. */
TP_SLOW void tp_aside_end(void);

/* In a forked child: they are the parent's. Before their writers are made to give theirs. */
void tp_aside_forget(void);

#endif
