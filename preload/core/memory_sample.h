/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the process's memory: the resident set, its parts, and the address space. Reading them costs more than
 * everything else that is done periodically. While memory does not change (core/rss_cache.h) few samples are taken, and
 * the last numbers are written again.
 */
#ifndef TPROF_CORE_MEMORY_SAMPLE_H
#define TPROF_CORE_MEMORY_SAMPLE_H

#include "core/base.h"

struct tpc_thread;

/* Takes a sample now. Both functions need a recording in progress (TPC_BUSY_RECORD). */
TPC_SLOW void tpc_sample_memory(struct tpc_thread *thread);

/*
 * A sample is due at `ticks`. It is left out while memory does not change, except at the end of a step, which always
 * has one. If a USAGE record is due too, it is written: one question to the kernel serves both.
 */
TPC_SLOW void tpc_sample_memory_due(struct tpc_thread *thread, uint64_t ticks, bool at_end);

#endif
