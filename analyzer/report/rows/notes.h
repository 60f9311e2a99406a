/* SPDX-License-Identifier: Apache-2.0 */
/* What limits the numbers of a report, in sentences. */
#ifndef TPROF_REPORT_ROWS_NOTES_H
#define TPROF_REPORT_ROWS_NOTES_H

#include "model/result/result.h"
#include "symbols/symbols.h"

/* A list of sentences. */
struct tpa_notes {
	char **text;
	size_t count;
};

/*
 * Everything that limits what the numbers say: losses, damage, bypassed hooks, incomplete stacks, replaced modules (of
 * `symbols` used so far; may be NULL).
 */
void tpa_notes_collect(struct tpa_notes *notes, const struct tpa_process *process, const struct tpa_symbols *symbols);

/*
 * Adds what of a process of the run was not recorded at all, with its trace's name: where 0 is no measurement; and what the next
 * adds.
 */
void tpa_notes_unrecorded(struct tpa_notes *notes, const struct tpa_run *run, const struct tpa_process *process);

/* Adds, with its trace's name, why the recording is not that of a whole run. */
void tpa_notes_partial(struct tpa_notes *notes, const struct tpa_process *process);
void tpa_notes_free(struct tpa_notes *notes);

#endif
