/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a run by role, and those that differ from the others: model/result/roles.h. */
#ifndef TPROF_COMMANDS_PARTS_ROLE_REPORT_H
#define TPROF_COMMANDS_PARTS_ROLE_REPORT_H

#include <jansson.h>

#include "commands/input/session.h"
#include "model/result/roles.h"

/* Opens the symbols: forks are told apart by the lines at which they were made. Free the result with tpa_roles_free(). */
struct tpa_roles tpa_session_roles(struct tpa_session *session);

/* Prints nothing if no two processes have the same role. */
void tpa_roles_print(struct tpa_session *session);

/* Prints only a sentence for each process that differs from the others. */
void tpa_roles_odd_print(struct tpa_session *session, const struct tpa_page *page);

/* "combined.roles", a new reference. */
json_t *tpa_roles_json(struct tpa_session *session);

#endif
