/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of columns that are described in report/rows/column.h. */
#ifndef TPROF_REPORT_TEXT_COLUMNS_H
#define TPROF_REPORT_TEXT_COLUMNS_H

#include "report/rows/column.h"
#include "report/text/text.h"

/*
 * `keys`: which of the columns, in their order, separated by blanks; with a mark in front for their style: '*' a number that
 * matters, '~' one that matters less, '+' a name, '@' one that takes what is left of the line. `rest`: NULL, or titles of columns
 * beside those, whose cells the caller adds.
 */
struct tpa_table *tpa_columns_begin(const struct tpa_page *page, const struct tpa_column *columns, const char *keys,
				    const char *rest);
/* One of its cells, but for a name. */
struct tpa_text tpa_column_text(const struct tpa_page *page, const struct tpa_column *column, const void *row,
				const struct tpa_row_context *context);
void tpa_columns_add(struct tpa_table *table, const struct tpa_page *page, const struct tpa_column *columns,
		     const char *keys, const void *row, const struct tpa_row_context *context);

#endif
