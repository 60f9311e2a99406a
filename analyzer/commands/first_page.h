/* SPDX-License-Identifier: Apache-2.0 */
/* The first page: answers, each with the command that tells more. */
#ifndef TPROF_COMMANDS_FIRST_PAGE_H
#define TPROF_COMMANDS_FIRST_PAGE_H

#include <jansson.h>

#include "commands/session.h"
#include "machine/machine.h"

/*
 * The section of a process, without its notes: what holds the memory, what leaks, what takes the time. Of several processes the
 * one with the largest peak has it whole.
 */
void tpa_first_page_print(struct tpa_session *session, size_t index);

/* Has the process a section? The largest have, and those that leak. */
bool tpa_first_page_shows(const struct tpa_session *session, size_t index);

/* The page's last line: what to ask next. */
void tpa_first_page_next(const struct tpa_session *session);

/* "answer": a new reference. `machine` may be NULL: it is not known. */
json_t *tpa_answer_json(struct tpa_session *session, size_t index, const struct tpa_machine *machine);

#endif
