/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a process: how it ended, what it is called, what of it was not recorded.
 */
#ifndef TPROF_REPORT_ROWS_PROCESS_FACTS_H
#define TPROF_REPORT_ROWS_PROCESS_FACTS_H

#include "report/rows/column.h"
#include "symbols/symbols.h"

/* "exit", "signal", "exec", "killed" or "running". */
const char *tpa_end_name(const struct tpa_trace *trace);

/* "exited with status 0", "was killed", ... */
struct tpa_phrase {
	char text[128];
};
struct tpa_phrase tpa_end_sentence(const struct tpa_trace *trace);

/*
 * Of memory that was not freed: "unfreed at exit", "alive when the process was killed", ... ; where the report ends at
 * `to_ns` (0: with the process), before the process does, what the process would free afterwards is in it too.
 */
const char *tpa_unfreed_phrase(const struct tpa_process *process, uint64_t to_ns);

/* Name of the program: the last part of its path. */
const char *tpa_program_name(const struct tpa_trace *trace);

/* Events that were not recorded; of other causes stacks, memory samples or threads are counted: no event is missing for them. */
uint64_t tpa_lost_events(const struct tpa_trace *trace);
/* Name of a cause; NULL: no such cause. */
const char *tpa_lost_name(unsigned int cause);

/* Of a malloc that was not seen: is it another library's that stands before libtprof.so, or is it linked into the program? */
bool tpa_malloc_is_shared(const struct tpa_trace *trace);

/* Was the collector told to leave allocations out? */
bool tpa_allocations_off(const struct tpa_trace *trace);

/* Why it is not known what the process allocated, in words; NULL: it was recorded. */
const char *tpa_heap_unseen(const struct tpa_process *process);

/*
 * The same of one among processes that are summed: the 0 of one that had no sample is as good an estimate as the others' numbers,
 * unless none had any. A small child of a large program has none as a rule.
 */
const char *tpa_heap_unseen_in(const struct tpa_run *run, const struct tpa_process *process);

/* Is it not known, and nothing in the trace? Its 0 bytes are then no number to print. */
bool tpa_heap_unknown(const struct tpa_process *process);

/* Why the trace is not that of the whole run, in words, after a replay; NULL: it is, but for what notes say. */
const char *tpa_recording_cut(const struct tpa_trace *trace);

/* Of a process beside the others of its run: JSON has the pid and the bytes. */
extern const struct tpa_column tpa_process_columns[];

#endif
