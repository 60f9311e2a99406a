/* SPDX-License-Identifier: Apache-2.0 */
/* What tp_diff_json() made, for a terminal. */
#ifndef TPROF_REPORT_TEXT_DIFF_LISTING_H
#define TPROF_REPORT_TEXT_DIFF_LISTING_H

#include <jansson.h>

#include "report/text/text.h"

void tp_diff_print(const struct tp_page *page, const json_t *json);

#endif
