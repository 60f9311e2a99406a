/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that the tables of ops have in common. */
#ifndef TPROF_REPORT_TEXT_OP_CELLS_H
#define TPROF_REPORT_TEXT_OP_CELLS_H

#include "report/text/text.h"

/* An op's name, so many columns in. */
void tp_op_name_cell(struct tp_table *table, const struct tp_page *page, const char *op, int indent);

/* GFLOP/s; "-" where there is none to tell. */
struct tp_text tp_rate_text(uint64_t flop, uint64_t ns);
struct tp_text tp_flop_text(uint64_t flop);
/* The same of work that was not counted in full: at least so much, or "?". */
struct tp_text tp_flop_least_text(const struct tp_page *page, struct tp_text amount, bool least);

/* Bytes that may be less than none. */
struct tp_text tp_net_text(const struct tp_page *page, int64_t bytes);

static inline void tp_cell(struct tp_table *table, enum tp_style style, struct tp_text text)
{
	tp_table_add(table, style, text.text);
}

#endif
