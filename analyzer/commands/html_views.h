/* SPDX-License-Identifier: Apache-2.0 */
/* The data of an HTML report's views: a process's history, and what it is compared with. */
#ifndef TPROF_COMMANDS_HTML_VIEWS_H
#define TPROF_COMMANDS_HTML_VIEWS_H

#include <jansson.h>

#include "commands/input/session.h"

/* The histories of a session's processes, which are made as they are asked for, those of several processes at a time. */
struct tpa_html_histories {
	struct tpa_session *session;
	struct tpa_history **list; /* by process; NULL: not made yet, or used */
	size_t made;
};
void tpa_html_histories_begin(struct tpa_html_histories *histories, struct tpa_session *session);
void tpa_html_histories_end(struct tpa_html_histories *histories);

/*
 * Writes an element of that class with the history of a process, and `report`, which stays the caller's. Each process is asked for at
 * most once, in order.
 */
void tpa_html_views_data(struct tpa_html_histories *histories, size_t index, const char *class, const json_t *report,
			 FILE *out);

/*
 * What --baseline gives: the elements with its data, a heap string, and the differences from it: tpa_diff_json(), a new
 * reference. NULL: there is no baseline. Returns TPA_EXIT_OK, or the exit status after a line on stderr.
 */
struct tpa_html_baseline {
	char *data;
	json_t *differences;
};
int tpa_html_baseline_read(struct tpa_session *session, struct tpa_html_baseline *read);
void tpa_html_baseline_free(struct tpa_html_baseline *read);

#endif
