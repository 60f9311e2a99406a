/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a process: in an order, as tables. */
#ifndef TPROF_REPORT_TEXT_OP_LISTING_H
#define TPROF_REPORT_TEXT_OP_LISTING_H

#include "report/rows/sorted.h"
#include "report/text/text.h"

/* The first `top` (0: all): times alone; or times, their spread, memory and work. */
void tpa_ops_print_short(const struct tpa_page *page, const struct tpa_op_list *list, uint64_t top);
void tpa_ops_print(const struct tpa_page *page, const struct tpa_process *process, const struct tpa_op_list *list,
		   uint64_t top);

/* Below the tables: each op's shapes. */
void tpa_shapes_print(const struct tpa_page *page, const struct tpa_op_list *list, uint64_t top);

/* Of how many calls of PyTorch's operators the work is known, and of which not: a line, or nothing if there were none. */
void tpa_work_known_print(const struct tpa_page *page, const struct tpa_process *process);
#endif
