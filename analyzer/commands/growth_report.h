/* SPDX-License-Identifier: Apache-2.0 */
/* What grows with the steps, as a part of other commands' reports. */
#ifndef TPROF_COMMANDS_GROWTH_REPORT_H
#define TPROF_COMMANDS_GROWTH_REPORT_H

#include <jansson.h>

#include "commands/session.h"

/* The section of `leaks`; the summary's table. */
void tpa_growth_section_print(struct tpa_session *session, size_t process);
void tpa_growth_short_print(struct tpa_session *session, size_t process, uint64_t top);

/* Leaks on the first page: what leaks, who holds it, or why nothing is listed; answer.leaks. */
void tpa_leaks_answer_print(struct tpa_session *session, size_t process, uint64_t top);
json_t *tpa_leaks_answer_json(struct tpa_session *session, size_t process);

/* "growth" and "reachability", and as its "sites" what steps.growth is, set in `json`. */
void tpa_growth_section_json(struct tpa_session *session, size_t process, json_t *json);

/* steps.growth alone: only what grows with steps. */
void tpa_growth_steps_json(struct tpa_session *session, size_t process, json_t *steps);

/* The report of `holders`, as text; its keys set in `json`. */
void tpa_holders_section_print(struct tpa_session *session, size_t process);
void tpa_holders_section_json(struct tpa_session *session, size_t process, json_t *json);

#endif
