/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a process: how it ended, its name, and what was not recorded. */
#ifndef TPROF_REPORT_ROWS_PROCESS_FACTS_H
#define TPROF_REPORT_ROWS_PROCESS_FACTS_H

#include "report/rows/column.h"
#include "symbols/symbols.h"

/* How long the program had run when tprof was attached to it, in ns; 0: it was started with tprof. */
uint64_t tpa_attached_after_ns(const struct tpa_trace *trace);

/* "exit", "signal", "exec", "detached", "killed" or "running". */
const char *tpa_end_name(const struct tpa_trace *trace);

/* "exited with status 0", "was killed", ... */
struct tpa_phrase {
	char text[288];
};
struct tpa_phrase tpa_end_sentence(const struct tpa_trace *trace);

/*
 * What to call memory that was not freed: "unfreed at exit", "alive when it was killed", ... `to_ns`: where the report ends, since
 * the run's start (0: at the end of the process). A report that ends before the process also includes what is freed later, so its
 * phrase does not say "unfreed".
 */
const char *tpa_unfreed_phrase(const struct tpa_process *process, uint64_t to_ns);

/* "started 2026-11-25 20:34:00, ran 7.14 s, 3 threads, exited with status 0": what of it is known. */
struct tpa_phrase tpa_run_sentence(const struct tpa_process *process);

/* "pid 4711", "pid 4711, rank 2 of 4"; "imported", if the trace does not know it. */
struct tpa_phrase tpa_process_number(const struct tpa_trace *trace);

/* Name of the program: the last part of its path. */
const char *tpa_program_name(const struct tpa_trace *trace);

/*
 * Number of events that were not recorded. Losses of stacks, memory samples, CPU timers and counters are not included: they cost no
 * event.
 */
uint64_t tpa_lost_events(const struct tpa_trace *trace);

/* Name of a cause of loss (TPROF_LOST_*); NULL: no such cause. */
const char *tpa_lost_name(unsigned int cause);

/*
 * If malloc is not hooked (TPROF_FLAG_FOREIGN_MALLOC): true if it comes from a shared library that is searched before libtprof.so,
 * false if it is linked into the program.
 */
bool tpa_malloc_is_shared(const struct tpa_trace *trace);

/* Was the collector told not to record allocations (TPROF_ALLOC=off)? */
bool tpa_allocations_off(const struct tpa_trace *trace);

/* Why the process's allocations are unknown, in words; NULL: they were recorded. */
const char *tpa_heap_unseen(const struct tpa_process *process);

/*
 * Like tpa_heap_unseen(), for a process whose numbers are summed with those of the run's other processes. A process without a
 * sampled block counts as recorded, unless no process has one: its 0 is as good an estimate as the others' numbers. A small child
 * of a large program usually has no sample.
 */
const char *tpa_heap_unseen_in(const struct tpa_run *run, const struct tpa_process *process);

/* Are the process's allocations unknown, and is the heap empty? Then its 0 bytes mean nothing: don't print them. */
bool tpa_heap_unknown(const struct tpa_process *process);

/*
 * Why the trace does not cover the whole run, in words. NULL: it does, apart from what the notes say. Valid after a replay, which
 * finds damage.
 */
const char *tpa_recording_cut(const struct tpa_trace *trace);

/* Rows: struct tpa_process, compared with the other processes of its run. JSON has the pid and the bytes. */
extern const struct tpa_column tpa_process_columns[];

#endif
