/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of ops and of their shapes. */
#ifndef TPROF_REPORT_ROWS_OP_COLUMNS_H
#define TPROF_REPORT_ROWS_OP_COLUMNS_H

#include "report/rows/column.h"

extern const struct tp_column tp_op_columns[];	  /* rows: struct tp_op_stats */
extern const struct tp_column tp_shape_columns[]; /* rows: struct tp_shape_stats */

#endif
