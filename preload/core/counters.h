/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPROF_COUNTERS: what the thread's counters rose by is recorded before each begin and end of an op, so that a reader can
 * give it to the ops that were open. Reading costs a microsecond or two where it takes system calls (core/perf.h); the
 * reader sees from the times how long, and takes it for the collector's own.
 */
#ifndef TPROF_CORE_COUNTERS_H
#define TPROF_CORE_COUNTERS_H

#include "core/base.h"

struct tpc_thread;

/* Finds out which of them can be had, records that, names the others on stderr; begins with the calling thread. */
TPC_SLOW void tpc_counters_start(void);

/* The calling thread, whose struct this is, is counted from here on. */
TPC_SLOW void tpc_counters_attach(struct tpc_thread *thread);

/* In a forked child: what the parent's threads had open is closed here. tpc_counters_start() follows. */
TPC_SLOW void tpc_counters_forget(void);

/*
 * Puts a COUNTERS record before the op's. There is room for both: TPC_RECORD_MAX is enough. Returns the time now, by which
 * the op begins.
 */
TPC_SLOW uint64_t tpc_counters_emit(struct tpc_thread *thread, uint64_t ticks);

#endif
