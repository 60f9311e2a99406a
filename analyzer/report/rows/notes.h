/* SPDX-License-Identifier: Apache-2.0 */
/* What limits the numbers of a report, in sentences. */
#ifndef TPROF_REPORT_ROWS_NOTES_H
#define TPROF_REPORT_ROWS_NOTES_H

#include "model/result/result.h"
#include "symbols/symbols.h"

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
void tp_notes_free(struct tp_notes *notes);

#endif
