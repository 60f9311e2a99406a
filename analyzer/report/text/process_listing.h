/* SPDX-License-Identifier: Apache-2.0 */
/* The head of a process's section, and the notes at its end. */
#ifndef TPROF_REPORT_TEXT_PROCESS_LISTING_H
#define TPROF_REPORT_TEXT_PROCESS_LISTING_H

#include "report/rows/notes.h"
#include "report/rows/process_facts.h"
#include "report/text/text.h"

/* Two lines at the head of a section: program, pid, arguments; how it went. */
void tp_process_print(const struct tp_process *process, const struct tp_page *page);

/* Its program and arguments, or whose fork it is; indented below its parent. In `text`. */
const char *tp_process_label(const struct tp_run *run, const struct tp_process *process, const struct tp_page *page,
			     char *text, size_t size);

/* Below an empty line; nothing if there is none. */
void tp_notes_print(const struct tp_notes *notes, const struct tp_page *page);

#endif
