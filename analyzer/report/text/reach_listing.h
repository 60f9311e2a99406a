/* SPDX-License-Identifier: Apache-2.0 */
/* What searches for pointers found (TPROF_LEAKCHECK, tprof ctl leakcheck), as text and as JSON: of the latest search. */
#ifndef TPROF_REPORT_TEXT_REACH_LISTING_H
#define TPROF_REPORT_TEXT_REACH_LISTING_H

#include <jansson.h>

#include "report/text/growth_listing.h"

/* Nothing if there was no search, and none was asked for. */
void tp_reach_print(const struct tp_growth_view *view);

/* "search": what became of the search at the end, and when the latest one was. */
json_t *tp_reach_search_json(const struct tp_growth_view *view);

/* "reachability"; null if there was no search. */
json_t *tp_reach_json(const struct tp_growth_view *view);

#endif
