/* SPDX-License-Identifier: Apache-2.0 */
/* Notes: sentences that say what limits a report's numbers. */
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
 * Sets `notes` to everything that limits the numbers of a process: lost events, damage, bypassed hooks, incomplete stacks, and
 * modules that were replaced or are missing (as far as `symbols` has read them; NULL: no notes about modules). Free the notes with
 * tpa_notes_free().
 */
void tpa_notes_collect(struct tpa_notes *notes, const struct tpa_process *process, const struct tpa_symbols *symbols);

/*
 * Adds what was not recorded at all of a process of `run`, so that its 0 is not a measurement, and all that tpa_notes_partial()
 * adds. Each note begins with the trace's file name.
 */
void tpa_notes_unrecorded(struct tpa_notes *notes, const struct tpa_run *run, const struct tpa_process *process);

/* Adds why the recording does not cover the whole run. Each note begins with the trace's file name. */
void tpa_notes_partial(struct tpa_notes *notes, const struct tpa_process *process);
void tpa_notes_free(struct tpa_notes *notes);

#endif
