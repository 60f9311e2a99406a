/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of the latest search for pointers (TPROF_LEAKCHECK, tprof ctl leakcheck). */
#ifndef TPROF_REPORT_TEXT_REACH_LISTING_H
#define TPROF_REPORT_TEXT_REACH_LISTING_H

#include "report/rows/view.h"

/* Prints nothing if no search was made or requested. */
void tpa_reach_print(const struct tpa_growth_view *view);

#endif
