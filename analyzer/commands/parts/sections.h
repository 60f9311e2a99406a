/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many processes get a section on the first page. */
#ifndef TPROF_COMMANDS_PARTS_SECTIONS_H
#define TPROF_COMMANDS_PARTS_SECTIONS_H

#include "commands/parts/processes.h"

/*
 * Chooses the processes that get a section: of each role the largest, and the largest that leaks; only of the largest roles, and
 * not of those that are negligible. And the rank that made the others wait. `sections`: by process, all zero.
 */
void tpa_sections_choose(struct tpa_session *session, struct tpa_section *sections);

#endif
