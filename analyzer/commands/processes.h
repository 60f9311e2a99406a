/* SPDX-License-Identifier: Apache-2.0 */
/* A report in JSON: the keys of a single process stand at the top, several are "processes", and what is "combined". */
#ifndef TPROF_COMMANDS_PROCESSES_H
#define TPROF_COMMANDS_PROCESSES_H

#include "commands/session.h"
#include "report/json/json.h"

struct tpa_process_report {
	/* The section of run->processes[index], owned by the caller; NULL: memory is out. */
	json_t *(*process)(struct tpa_session *session, size_t index, const void *argument);
	/* Adds to tpa_json_combined()'s; false: memory is out. May be NULL. */
	bool (*combine)(struct tpa_session *session, json_t *combined, const void *argument);
	const void *argument;
};

/* Writes it to the session's page. False: memory is out; what can't be written is tpa_session_close()'s to tell. */
bool tpa_processes_json(struct tpa_session *session, const struct tpa_process_report *report);

#endif
