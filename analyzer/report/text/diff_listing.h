/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the output of tpa_diff_json() as text. */
#ifndef TPROF_REPORT_TEXT_DIFF_LISTING_H
#define TPROF_REPORT_TEXT_DIFF_LISTING_H

#include <jansson.h>

#include "report/text/text.h"

void tpa_diff_print(const struct tpa_page *page, const json_t *json);

#endif
