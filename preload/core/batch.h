/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates chunks. A process that fills chunks quickly gets a batch of neighbouring ones: one reservation, one write, one
 * mapping, and few page faults, because the file system backs a large write with large pages. In a batch of 16, a chunk costs a
 * third of a single one. Any thread that has filled a chunk takes its next one from the batch. A thread's first chunk is
 * allocated alone, because most short-lived threads fill none. No lock: while one thread allocates a batch, others allocate
 * single chunks.
 *
 * Unused chunks are zeros in the file, which readers skip: at most one batch, which is returned to the disk when the process
 * ends.
 */
#ifndef TPROF_CORE_BATCH_H
#define TPROF_CORE_BATCH_H

#include <tprof/format.h>

#include "core/base.h"

struct tpc_obstacle; /* core/output.h */

/* A zeroed chunk. `whole`: its writer has filled one before. NULL: *obstacle says why not. Any thread. */
struct tprof_chunk *tpc_batch_take(bool whole, struct tpc_obstacle *obstacle);

/* The chunk is no longer used. It is unmapped together with its neighbours: 16 cost hardly more than one. Any thread. */
void tpc_batch_give(struct tprof_chunk *chunk);

/* At the end of the process: returns unused chunks to the disk. Threads that continue to record allocate new ones. */
TPC_SLOW void tpc_batch_end(void);

/* In a forked child: the batch belongs to the parent. */
void tpc_batch_forget(void);

#endif
