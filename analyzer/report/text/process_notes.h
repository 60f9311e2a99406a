/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of a process, in words: how it ended, what a reader must know before trusting a number.
 */
#ifndef TPROF_REPORT_TEXT_PROCESS_NOTES_H
#define TPROF_REPORT_TEXT_PROCESS_NOTES_H

#include "model/result/result.h"
#include "report/text/text.h"
#include "symbols/symbols.h"

/* "exit", "signal", "exec", "killed" or "running". */
const char *tp_end_name(const struct tp_trace *trace);

/* "exited with status 0", "was killed", ... */
struct tp_phrase {
	char text[128];
};
struct tp_phrase tp_end_sentence(const struct tp_trace *trace);

/*
 * Of memory that was not freed: "unfreed at exit", "alive when the process was killed", ... ; where the report ends at
 * `to_ns` (0: with the process), before the process does, what the process would free afterwards is in it too.
 */
const char *tp_unfreed_phrase(const struct tp_process *process, uint64_t to_ns);

/* Name of the program: the last part of its path. */
const char *tp_program_name(const struct tp_trace *trace);

/* Its program and arguments, or whose fork it is; indented below its parent. In `text`. */
const char *tp_process_label(const struct tp_run *run, const struct tp_process *process, const struct tp_page *page,
			     char *text, size_t size);

/* Events that were not recorded; of other causes stacks, memory samples or threads are counted: no event is missing for them. */
uint64_t tp_lost_events(const struct tp_trace *trace);
/* Name of a cause; NULL: no such cause. */
const char *tp_lost_name(unsigned int cause);

/* A list of sentences. */
struct tp_notes {
	char **text;
	size_t count;
};

/*
 * Everything that limits what the numbers say: losses, damage, bypassed hooks, incomplete stacks, replaced modules (of
 * `symbols` used so far; may be NULL). Never fails; out of memory drops a note.
 */
void tp_notes_collect(struct tp_notes *notes, const struct tp_process *process, const struct tp_symbols *symbols);

/*
 * Adds what of a process of the run was not recorded at all, with its trace's name: where 0 is no measurement; and what the next
 * adds.
 */
void tp_notes_unrecorded(struct tp_notes *notes, const struct tp_run *run, const struct tp_process *process);

/* Adds, with its trace's name, why the recording is not that of a whole run. */
void tp_notes_partial(struct tp_notes *notes, const struct tp_process *process);
void tp_notes_print(const struct tp_notes *notes, const struct tp_page *page);
void tp_notes_free(struct tp_notes *notes);

/* Two lines at the head of a section: program, pid, arguments; how it went. */
void tp_process_print(const struct tp_process *process, const struct tp_page *page);

#endif
