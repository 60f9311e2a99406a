/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an HTML report says of a process, section by section. `json` is that process's part of the report: what summary --json
 * prints, and beside it "timeline", "growth", "reachability" and "tree" as those commands do, "peak_lines" and "peak_ops".
 */
#ifndef TPROF_REPORT_HTML_HTML_PROCESS_H
#define TPROF_REPORT_HTML_HTML_PROCESS_H

#include "machine/roofline.h"
#include "report/html/html_table.h"

/* What it was, what it took at the most, what was recorded and what that cost. */
void tp_html_overview(const struct tp_html *html, const struct tp_process *process, const json_t *json);
void tp_html_notes(const struct tp_html *html, const json_t *json);
void tp_html_priorities(const struct tp_html *html, const json_t *json);

void tp_html_memory_over_time(const struct tp_html *html, const struct tp_process *process, const json_t *json);
void tp_html_peak(const struct tp_html *html, const json_t *json);
void tp_html_unfreed(const struct tp_html *html, const json_t *json);
void tp_html_growth(const struct tp_html *html, const json_t *json);
void tp_html_reachability(const struct tp_html *html, const json_t *json);
void tp_html_allocations(const struct tp_html *html, const json_t *json);

void tp_html_ops(const struct tp_html *html, const json_t *json);
void tp_html_steps(const struct tp_html *html, const struct tp_process *process, const json_t *json);
void tp_html_cpu(const struct tp_html *html, const struct tp_process *process, const json_t *json);
void tp_html_roofline(const struct tp_html *html, const json_t *json);

/* Several processes: what each held when they held most together, that over time, their ops. `json`: "combined". */
void tp_html_combined(const struct tp_html *html, const struct tp_run *run, const json_t *json);

#endif
