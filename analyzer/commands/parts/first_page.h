/* SPDX-License-Identifier: Apache-2.0 */
/* The first page: short answers, each with the command that shows more. */
#ifndef TPROF_COMMANDS_PARTS_FIRST_PAGE_H
#define TPROF_COMMANDS_PARTS_FIRST_PAGE_H

#include <jansson.h>

#include "commands/input/session.h"
#include "machine/machine.h"

/*
 * Prints a process's section without its notes: what holds the memory, what leaks, what takes the time. With several
 * processes, only the one with the largest peak gets a full section.
 */
void tpa_first_page_print(struct tpa_session *session, size_t index);

/* Prints what took the CPU time of several processes together; nothing if no sample was taken. */
void tpa_first_page_combined_print(struct tpa_session *session);

/* Adds the same to the JSON of all processes together, as "time". */
void tpa_answer_combined_json(struct tpa_session *session, json_t *combined);

/* The process with the largest peak, the first of several. */
size_t tpa_first_page_largest(const struct tpa_run *run);

/* Prints the page's last line: the command to run next. */
void tpa_first_page_next(struct tpa_session *session);

/* The value of "answer", a new reference. `machine` is NULL if the machine is unknown. */
json_t *tpa_answer_json(struct tpa_session *session, size_t index, const struct tpa_machine *machine);

#endif
