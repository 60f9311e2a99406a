/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side: a column each. */
#ifndef TPROF_REPORT_TEXT_COMPARE_LISTING_H
#define TPROF_REPORT_TEXT_COMPARE_LISTING_H

#include "machine/roofline.h"
#include "model/result/variants.h"
#include "report/text/text.h"

#define TP_COMPARE_MAX (TP_TABLE_COLUMNS - 1) /* variants that have a place */

/* `machine` NULL: it is not known, and nothing is said of roofs. `top` ops of each table (0: all). */
void tp_compare_print(const struct tp_page *page, const struct tp_variants *variants, const struct tp_machine *machine,
		      uint64_t top);

#endif
