/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of the process's memory: the resident set, what it is made of, and the address space. Reading them costs more than
 * all else that is done now and then: where memory stands still (core/rss_cache.h) there are few, and what was read is said again.
 */
#ifndef TPROF_CORE_MEMORY_SAMPLE_H
#define TPROF_CORE_MEMORY_SAMPLE_H

#include "core/base.h"

struct tpc_thread;

/* One is taken now. Both: recording (TPC_BUSY_RECORD). */
TPC_SLOW void tpc_sample_memory(struct tpc_thread *thread);

/*
 * One is due, at that time, in ticks: it is left out where memory stands still, but at a step's end, which always has one; and
 * a USAGE record is written, if one is due too: what the kernel counts is asked once for both.
 */
TPC_SLOW void tpc_sample_memory_due(struct tpc_thread *thread, uint64_t ticks, bool at_end);

#endif
