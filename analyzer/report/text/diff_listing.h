/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the output of tpa_diff_json() as text. */
#ifndef TPROF_REPORT_TEXT_DIFF_LISTING_H
#define TPROF_REPORT_TEXT_DIFF_LISTING_H

#include <jansson.h>

#include "report/text/text.h"

/* Parts of it, for the page. All take the whole JSON, except the verdict, which takes a row with "verdict". */
struct tpa_text tpa_diff_verdict(const json_t *row); /* "too few runs to tell: 3 more would" */
void tpa_diff_left_out_print(
	const struct tpa_page *page, const json_t *json,
	const char *key); /* a line that counts what a list omits, by kind; nothing if there is nothing */
const char *tpa_diff_growth_title(const json_t *json);
void tpa_diff_growth_print(const struct tpa_page *page, const json_t *json); /* a line; "growth" must be an object */

/* What the words and numbers mean: paragraphs without newlines. Returns their number. */
#define TPA_DIFF_EXPLANATIONS 5
size_t tpa_diff_explain(const json_t *json, const char *texts[TPA_DIFF_EXPLANATIONS]);

void tpa_diff_print(const struct tpa_page *page, const json_t *json);

#endif
