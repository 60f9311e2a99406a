/* SPDX-License-Identifier: Apache-2.0 */
/* What of the functions that ops are made of was hooked, and what not, and why: in one line. */
#ifndef TPROF_REPORT_TEXT_COVERAGE_H
#define TPROF_REPORT_TEXT_COVERAGE_H

#include "model/result/result.h"
#include "report/text/text.h"

/*
 * Of a trace that tells of hooks (hooks_count): pointers hooked and from how many objects, then how many functions were not,
 * by reason, and a line's end. A function that several objects call is counted for each of them.
 */
void tp_hooks_print_line(const struct tp_page *page, const struct tp_trace *trace);

/* Of a malloc that was not seen: is it another library's that stands before libtprof.so, or is it linked into the program? */
bool tp_malloc_is_shared(const struct tp_trace *trace);

/* The same and a label in front of it, if the trace tells of hooks; else nothing. */
void tp_hooks_print(const struct tp_page *page, const struct tp_trace *trace);

/* Was the collector told to leave allocations out? */
bool tp_allocations_off(const struct tp_trace *trace);

/* Why it is not known what the process allocated, in words; NULL: it was recorded. */
const char *tp_heap_unseen(const struct tp_process *process);

/*
 * The same of one among processes that are summed: the 0 of one that had no sample is as good an estimate as the others' numbers,
 * unless none had any. A small child of a large program has none as a rule.
 */
const char *tp_heap_unseen_in(const struct tp_run *run, const struct tp_process *process);

/* Is it not known, and nothing in the trace? Its 0 bytes are then no number to print. */
bool tp_heap_unknown(const struct tp_process *process);

/* Why the trace is not that of the whole run, in words, after a replay; NULL: it is, but for what notes say. */
const char *tp_recording_cut(const struct tp_trace *trace);

/*
 * At the end of a report on a process, below an empty line: the same, and how much CPU time was sampled and how much of it
 * was outside of every op.
 */
void tp_coverage_print(const struct tp_page *page, const struct tp_process *process);

#endif
