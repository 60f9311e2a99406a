/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where chunks come from. A process that fills chunks quickly gets several at once, of neighbouring places in the file: one
 * reservation, one write, one mapping, and few page faults, as the file system makes large pages of a large write. One chunk
 * of 16 so costs a third of one that is made alone. Whoever fills a chunk takes its next one from them, any thread; what
 * a thread begins with is made alone, as most short threads fill none. No lock: a thread that finds another one at making
 * them makes one alone.
 *
 * What is made and not taken is zeros in the file, which is no chunk to a reader: at most one batch, given back to the disk
 * when the process ends.
 */
#ifndef TPROF_CORE_BATCH_H
#define TPROF_CORE_BATCH_H

#include <tprof/format.h>

#include "core/base.h"

struct tpc_obstacle; /* core/output.h */

/*
 * A chunk nobody has written to, zeros. `whole`: its writer has filled one before. NULL: *obstacle says
 * what was in the way. Any thread.
 */
struct tprof_chunk *tpc_batch_take(bool whole, struct tpc_obstacle *obstacle);

/* Nobody uses it any more. It is unmapped with its neighbours: 16 at once cost hardly more than one. Any thread. */
void tpc_batch_give(struct tprof_chunk *chunk);

/* At the process's end: what nobody has taken goes back to the disk. Who goes on recording makes new ones. */
TPC_SLOW void tpc_batch_end(void);

/* In a forked child: they are the parent's. */
void tpc_batch_forget(void);

#endif
