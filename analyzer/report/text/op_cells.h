/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that several tables of ops share. */
#ifndef TPROF_REPORT_TEXT_OP_CELLS_H
#define TPROF_REPORT_TEXT_OP_CELLS_H

#include "report/text/text.h"

/* Adds an op's name, indented by this many columns. */
void tpa_op_name_cell(struct tpa_table *table, const struct tpa_page *page, const char *op, int indent);

/* An amount that was counted in part: a lower bound, or "?". */
struct tpa_text tpa_flop_least_text(const struct tpa_page *page, struct tpa_text amount, bool least);

#endif
