/* SPDX-License-Identifier: Apache-2.0 */
/* Growth with the steps, as a part of other commands' reports. */
#ifndef TPROF_COMMANDS_PARTS_GROWTH_REPORT_H
#define TPROF_COMMANDS_PARTS_GROWTH_REPORT_H

#include <jansson.h>

#include "commands/input/session.h"

/* Print the section of `leaks` and the summary's table. */
void tpa_growth_section_print(struct tpa_session *session, size_t process);
void tpa_growth_short_print(struct tpa_session *session, size_t process, uint64_t top);

/* Leaks on the first page: what leaks and who holds it, or why nothing is listed. The JSON key is answer.leaks. */
void tpa_leaks_answer_print(struct tpa_session *session, size_t process, uint64_t top);
json_t *tpa_leaks_answer_json(struct tpa_session *session, size_t process);

/* The number of places that leak; 0 as well if it is not known. */
size_t tpa_leaks_count(struct tpa_session *session, size_t process);

/* Prints the fastest leak of a process that leaks as one line, without its end. */
void tpa_leaks_brief_print(struct tpa_session *session, size_t process);

/* Sets "growth" and "reachability" in `json`, and as "sites" the same rows as steps.growth. */
void tpa_growth_section_json(struct tpa_session *session, size_t process, json_t *json);

/* Sets steps.growth alone: only stacks that grow with the steps. */
void tpa_growth_steps_json(struct tpa_session *session, size_t process, json_t *steps);

/* The report of `holders`: prints it as text, or sets its keys in `json`. */
void tpa_holders_section_print(struct tpa_session *session, size_t process);
void tpa_holders_section_json(struct tpa_session *session, size_t process, json_t *json);

#endif
