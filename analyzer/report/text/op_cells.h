/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that the tables of ops have in common. */
#ifndef TPROF_REPORT_TEXT_OP_CELLS_H
#define TPROF_REPORT_TEXT_OP_CELLS_H

#include "report/text/text.h"

/* An op's name, so many columns in. */
void tpa_op_name_cell(struct tpa_table *table, const struct tpa_page *page, const char *op, int indent);

/* An amount that was not counted in full: at least so much, or "?". */
struct tpa_text tpa_flop_least_text(const struct tpa_page *page, struct tpa_text amount, bool least);

#endif
