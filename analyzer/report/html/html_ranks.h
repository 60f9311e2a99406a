/* SPDX-License-Identifier: Apache-2.0 */
/* The section of a page about the ranks of a parallel job: who was late, and heat maps of ranks and steps. */
#ifndef TPROF_REPORT_HTML_HTML_RANKS_H
#define TPROF_REPORT_HTML_HTML_RANKS_H

#include "report/html/html.h"
#include "report/rows/rank_view.h"

void tpa_html_ranks(const struct tpa_html *html, const struct tpa_rank_view *view);

#endif
