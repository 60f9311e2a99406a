/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the columns that report/rows/column.h describes. */
#ifndef TPROF_REPORT_TEXT_COLUMNS_H
#define TPROF_REPORT_TEXT_COLUMNS_H

#include "report/rows/column.h"
#include "report/text/text.h"

/*
 * `keys`: the columns in order, separated by blanks. A leading mark sets the style: '*' an important number, '~' a
 * less important one, '+' a name, '@' a column that takes the rest of the line. `rest`: NULL, or titles of extra
 * columns whose cells the caller adds.
 */
struct tpa_table *tpa_columns_begin(const struct tpa_page *page, const struct tpa_column *columns, const char *keys,
				    const char *rest);
/* The text of a cell, except for a name. */
struct tpa_text tpa_column_text(const struct tpa_page *page, const struct tpa_column *column, const void *row,
				const struct tpa_row_context *context);
void tpa_columns_add(struct tpa_table *table, const struct tpa_page *page, const struct tpa_column *columns,
		     const char *keys, const void *row, const struct tpa_row_context *context);

#endif
