/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a process: in an order, as tables. */
#ifndef TPROF_REPORT_TEXT_OP_LISTING_H
#define TPROF_REPORT_TEXT_OP_LISTING_H

#include "report/rows/sorted.h"
#include "report/text/text.h"

/* The first `top` (0: all): times alone; or times, their spread, memory and work. */
void tp_ops_print_short(const struct tp_page *page, const struct tp_op_list *list, uint64_t top);
void tp_ops_print(const struct tp_page *page, const struct tp_process *process, const struct tp_op_list *list,
		  uint64_t top);

/* Below the tables: each op's shapes. */
void tp_shapes_print(const struct tp_page *page, const struct tp_op_list *list, uint64_t top);

/* Of how many calls of PyTorch's operators the work is known, and of which not: a line, or nothing if there were none. */
void tp_work_known_print(const struct tp_page *page, const struct tp_process *process);
#endif
