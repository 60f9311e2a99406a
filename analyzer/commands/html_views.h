/* SPDX-License-Identifier: Apache-2.0 */
/* The data of an HTML report's views: a process's history, and what it is compared with. */
#ifndef TPROF_COMMANDS_HTML_VIEWS_H
#define TPROF_COMMANDS_HTML_VIEWS_H

#include <jansson.h>

#include "commands/session.h"

/* Writes an element of that class with the history of a process, and `report`, which stays the caller's. */
void tpa_html_views_data(struct tpa_session *session, size_t index, const char *class, const json_t *report, FILE *out);

/*
 * The elements with the data of --baseline and the differences from it, a heap string; NULL: there is no baseline. *status is
 * not TPA_EXIT_OK if it can't be read, after a line on stderr.
 */
char *tpa_html_baseline(struct tpa_session *session, int *status);

#endif
