/* SPDX-License-Identifier: Apache-2.0 */
/* Variants side by side, one column each. */
#ifndef TPROF_REPORT_TEXT_COMPARE_LISTING_H
#define TPROF_REPORT_TEXT_COMPARE_LISTING_H

#include "machine/roofline.h"
#include "model/result/variants.h"
#include "report/text/text.h"

#define TPA_COMPARE_MAX (TPA_TABLE_COLUMNS - 1) /* most variants in a table */

/* `machine` NULL: unknown, omits roofs. Prints `top` ops in each table (0: all). */
void tpa_compare_print(const struct tpa_page *page, const struct tpa_variants *variants,
		       const struct tpa_machine *machine, uint64_t top);

#endif
