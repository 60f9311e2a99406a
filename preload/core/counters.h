/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPROF_COUNTERS: the increase of the thread's counters is recorded before each begin and end of an op, so that a reader can
 * attribute it to the ops that were open. Where reading takes system calls it costs a microsecond or two (core/perf.h); the
 * recorded times tell how long, and the analyzer counts that as the collector's own.
 */
#ifndef TPROF_CORE_COUNTERS_H
#define TPROF_CORE_COUNTERS_H

#include "core/base.h"

struct tpc_thread;

/* Opens the counters that are available, records which, and logs the others. Starts with the calling thread. */
TPC_SLOW void tpc_counters_start(void);

/* Starts counting in the calling thread, whose struct this is. */
TPC_SLOW void tpc_counters_attach(struct tpc_thread *thread);

/* In a forked child: closes the counters of the parent's threads. tpc_counters_start() follows. */
TPC_SLOW void tpc_counters_forget(void);

/*
 * Writes a COUNTERS record before that of an op. TPC_RECORD_MAX is enough for both. Returns the time after it, at which the op
 * begins.
 */
TPC_SLOW uint64_t tpc_counters_emit(struct tpc_thread *thread, uint64_t ticks);

#endif
