/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two sides, and variants side by side, as parts of a page or as pages of their own. */
#ifndef TPROF_REPORT_HTML_HTML_DIFF_H
#define TPROF_REPORT_HTML_HTML_DIFF_H

#include "report/html/html.h"

/* A section with the lists of tpa_diff_json(). All but the first are folded unless `open`. */
void tpa_html_diff(const struct tpa_html *html, const json_t *json, bool open);

/* A page of it alone. */
void tpa_html_diff_page(const struct tpa_html *html, const json_t *json);

/* A page of tpa_compare_json(): the variants, a row each; then ops, with a column for each variant. */
void tpa_html_compare_page(const struct tpa_html *html, const json_t *json);

#endif
