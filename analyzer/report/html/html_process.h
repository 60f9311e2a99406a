/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections of a process in an HTML report. `json` is the process's part: summary --json, with "timeline",
 * "growth", "reachability" and "tree" from those commands, "peak_lines" and "peak_ops".
 */
#ifndef TPROF_REPORT_HTML_HTML_PROCESS_H
#define TPROF_REPORT_HTML_HTML_PROCESS_H

#include "machine/roofline.h"
#include "report/html/html_table.h"

/* The process, its peaks, what was recorded, and the overhead. */
void tpa_html_overview(const struct tpa_html *html, const struct tpa_process *process, const json_t *json);
void tpa_html_notes(const struct tpa_html *html, const json_t *json);
void tpa_html_priorities(const struct tpa_html *html, const json_t *json);

void tpa_html_peak(const struct tpa_html *html, const json_t *json);
void tpa_html_unfreed(const struct tpa_html *html, const json_t *json);
void tpa_html_growth(const struct tpa_html *html, const json_t *json);
void tpa_html_reachability(const struct tpa_html *html, const json_t *json);
void tpa_html_allocations(const struct tpa_html *html, const json_t *json);

void tpa_html_ops(const struct tpa_html *html, const json_t *json);
void tpa_html_steps(const struct tpa_html *html, const struct tpa_process *process, const json_t *json);
void tpa_html_cpu(const struct tpa_html *html, const struct tpa_process *process, const json_t *json);
void tpa_html_roofline(const struct tpa_html *html, const json_t *json);

/* Sentences of the text report. */
struct tpa_html_said {
	void (*copied)(const struct tpa_page *page,
		       const void *context); /* what forks copied of their parents' pages */
	void (*odd)(const struct tpa_page *page,
		    const void *context); /* which processes differ from the others of their role */
	const void *context;
};

/* Several processes combined: roles, what each held at the combined peak, memory over time, ops. `json`: "combined". */
void tpa_html_combined(const struct tpa_html *html, const struct tpa_run *run, const json_t *json,
		       const struct tpa_html_said *said);

#endif
