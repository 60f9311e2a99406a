/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of rows of sites. They want a context: what is not known of estimates; what shares are of. */
#ifndef TPROF_REPORT_ROWS_SITE_COLUMNS_H
#define TPROF_REPORT_ROWS_SITE_COLUMNS_H

#include "report/rows/column.h"
#include "report/rows/rows.h"

/* Of what was live at the peak, is unfreed, or was allocated. Rows: struct tpa_row. */
const struct tpa_column *tpa_site_columns(enum tpa_what what);

#endif
