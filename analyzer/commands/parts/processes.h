/* SPDX-License-Identifier: Apache-2.0 */
/* A report with a section for each process, as text or as JSON, as most commands print. */
#ifndef TPROF_COMMANDS_PARTS_PROCESSES_H
#define TPROF_COMMANDS_PARTS_PROCESSES_H

#include "commands/input/session.h"
#include "report/json/json.h"
#include "report/json/json_writer.h"

struct tpa_section {
	size_t alike;	   /* processes of its role; 0: no section */
	const char *which; /* why it was chosen of these: "the largest" */
};

struct tpa_report {
	size_t notes; /* most notes to print as text; 0: all */
	bool symbols; /* open all processes' symbols first; the notes then list missing names */
	bool related; /* JSON has "run": the run's other processes that have traces */
	/* Chooses the processes that get a section in the text: sets some of the sections, which are all zero. NULL: all do. */
	void (*choose)(struct tpa_session *session, struct tpa_section *sections);
	/* Prints the section of run->processes[index] as text, without its notes. */
	void (*print)(struct tpa_session *session, size_t index);
	/* Prints what comes before the sections of all processes. May be NULL. */
	void (*print_begin)(struct tpa_session *session);
	/* Prints what follows the sections of all processes. */
	void (*print_end)(struct tpa_session *session);
	/* Adds the section of run->processes[index] to `json`, which has "process" and "capture" already. */
	void (*json)(struct tpa_session *session, size_t index, json_t *json);
	/* Adds to tpa_json_combined()'s object if there are several processes. May be NULL. */
	void (*combine)(struct tpa_session *session, json_t *combined);
	/* Writes members of the whole that are about no single process. May be NULL. */
	void (*whole)(struct tpa_session *session, struct tpa_json_writer *writer);
	const void *argument; /* session->argument during these calls */
};

/* The JSON of one process, a new reference. If report->symbols is set, its symbols must be open. */
json_t *tpa_process_json(struct tpa_session *session, const struct tpa_report *report, size_t index);

/* Writes the report of a replayed session in the format of --json, and closes the session. Returns enum tpa_exit. */
int tpa_report(struct tpa_session *session, const struct tpa_report *report);

/* Starts a session, writes its report as tpa_report() does, and closes it. */
int tpa_report_run(const struct tpa_options *options, enum tpa_group group, const struct tpa_report *report);

#endif
