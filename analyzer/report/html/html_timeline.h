/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_REPORT_HTML_HTML_TIMELINE_H
#define TPROF_REPORT_HTML_HTML_TIMELINE_H

#include "report/html/html.h"

struct tp_html_timeline {
	const json_t *points; /* tp_json_points() */
	const json_t *marks;  /* tp_marks_json(), or NULL */
	const json_t *steps;  /* "list" of tp_steps_json(), or NULL */
	json_int_t from_ns, to_ns;
	json_int_t peak_ns, peak_bytes;
};

/* Live bytes and RSS over time as a picture, with marks and the ends of steps; nothing of less than two points. */
void tp_html_timeline(const struct tp_html *html, const struct tp_html_timeline *timeline);

/* Each step's time, in their order; nothing of less than two. */
void tp_html_step_times(const struct tp_html *html, const json_t *steps, json_int_t median_ns);

#endif
