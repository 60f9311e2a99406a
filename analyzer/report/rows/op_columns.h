/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of the tables about ops: ops, shapes, the call tree, layers, priorities. */
#ifndef TPROF_REPORT_ROWS_OP_COLUMNS_H
#define TPROF_REPORT_ROWS_OP_COLUMNS_H

#include "report/rows/column.h"

extern const struct tpa_column tpa_op_columns[];       /* rows: struct tpa_op_stats */
extern const struct tpa_column tpa_shape_columns[];    /* rows: struct tpa_shape_stats */
extern const struct tpa_column tpa_op_node_columns[];  /* rows: struct tpa_op_node */
extern const struct tpa_column tpa_layer_columns[];    /* rows: struct tpa_layer */
extern const struct tpa_column tpa_priority_columns[]; /* rows: struct tpa_priority */

#endif
