/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of the tables of sites. Their context must have `unseen` and `whole`. */
#ifndef TPROF_REPORT_ROWS_SITE_COLUMNS_H
#define TPROF_REPORT_ROWS_SITE_COLUMNS_H

#include "report/rows/column.h"
#include "report/rows/rows.h"

/* The columns for memory that was live at the peak, is unfreed, or was allocated. Rows: struct tpa_row. */
const struct tpa_column *tpa_site_columns(enum tpa_what what);

#endif
