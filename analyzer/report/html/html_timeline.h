/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_REPORT_HTML_HTML_TIMELINE_H
#define TPROF_REPORT_HTML_HTML_TIMELINE_H

#include "report/html/html.h"

struct tpa_html_timeline {
	const json_t *points; /* tpa_json_points() */
	json_int_t to_ns;
	json_int_t peak_ns, peak_bytes;
};

/* Draws live bytes and RSS over time, of several processes; nothing for fewer than two points. */
void tpa_html_timeline(const struct tpa_html *html, const struct tpa_html_timeline *timeline);

/* Draws each step's time in order; nothing for fewer than two steps. */
void tpa_html_step_times(const struct tpa_html *html, const json_t *steps, json_int_t median_ns);

#endif
