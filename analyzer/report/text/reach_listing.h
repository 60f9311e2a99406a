/* SPDX-License-Identifier: Apache-2.0 */
/* What searches for pointers found (TPROF_LEAKCHECK, tprof ctl leakcheck): of the latest search. */
#ifndef TPROF_REPORT_TEXT_REACH_LISTING_H
#define TPROF_REPORT_TEXT_REACH_LISTING_H

#include "report/rows/view.h"

/* Nothing if there was no search, and none was asked for. */
void tpa_reach_print(const struct tpa_growth_view *view);

#endif
