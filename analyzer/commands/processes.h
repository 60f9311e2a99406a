/* SPDX-License-Identifier: Apache-2.0 */
/* A report with a section for each process, as text or as JSON: what most commands print. */
#ifndef TPROF_COMMANDS_PROCESSES_H
#define TPROF_COMMANDS_PROCESSES_H

#include "commands/session.h"
#include "report/json/json.h"

struct tpa_report {
	size_t notes; /* that are printed as text at most; 0: all */
	bool symbols; /* open all processes' symbols first; the notes then say which names are missing */
	bool related; /* JSON has "run": the other processes of the run that have traces */
	/* Has run->processes[index] a section in the text? NULL: all have. */
	bool (*shows)(const struct tpa_session *session, size_t index);
	/* Prints the section of run->processes[index] as text, without its notes. */
	void (*print)(struct tpa_session *session, size_t index);
	/* Prints what follows the sections of all processes. */
	void (*print_end)(struct tpa_session *session);
	/* Adds the section of run->processes[index] to `json`, which has "process" and "capture" already. */
	void (*json)(struct tpa_session *session, size_t index, json_t *json);
	/* Adds to tpa_json_combined()'s object, where there are several processes. May be NULL. */
	void (*combine)(struct tpa_session *session, json_t *combined);
	const void *argument; /* session->argument, while these are called */
};

/* The JSON of one process, a new reference. With report->symbols its symbols must be open. */
json_t *tpa_process_json(struct tpa_session *session, const struct tpa_report *report, size_t index);

/* Writes the report of a replayed session, as --json says, and closes the session. Returns enum tpa_exit. */
int tpa_report(struct tpa_session *session, const struct tpa_report *report);

/* The same of a session that is started for it. */
int tpa_report_run(const struct tpa_options *options, enum tpa_group group, const struct tpa_report *report);

#endif
