/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a process's section, and the notes at its end. */
#ifndef TPROF_REPORT_TEXT_PROCESS_LISTING_H
#define TPROF_REPORT_TEXT_PROCESS_LISTING_H

#include "model/result/rank_of.h"
#include "report/rows/notes.h"
#include "report/rows/process_facts.h"
#include "report/text/text.h"

/* Prints two lines at the head of a section: program, pid and arguments; how the process ended. */
void tpa_process_print(const struct tpa_process *process, const struct tpa_page *page);

/* Prints "no event lost", or what was; no end of the line. */
void tpa_lost_print(const struct tpa_trace *trace, const struct tpa_page *page);

/* Its program and arguments, or its parent if it is a fork; indented below the parent. In `text`. */
const char *tpa_process_label(const struct tpa_run *run, const struct tpa_process *process, const struct tpa_page *page,
			      char *text, size_t size);

/* The same of a rank: "rank 3: train --batch 8". `rank`: of tpa_rank_of_each(), for this process. */
const char *tpa_process_label_of(const struct tpa_run *run, const struct tpa_process *process,
				 const struct tpa_rank_of *rank, const struct tpa_page *page, char *text, size_t size);

/* Prints an empty line and at most `most` notes (0: all); nothing if there are none. */
void tpa_notes_print(const struct tpa_notes *notes, const struct tpa_page *page, size_t most);

#endif
