/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the ops of a process in an order, as tables. */
#ifndef TPROF_REPORT_TEXT_OP_LISTING_H
#define TPROF_REPORT_TEXT_OP_LISTING_H

#include "report/rows/sorted.h"
#include "report/text/text.h"

/* Print the first `top` (0: all): only times; or times, their spread, memory and work. */
void tpa_ops_print_short(const struct tpa_page *page, const struct tpa_op_list *list, uint64_t top);
void tpa_ops_print(const struct tpa_page *page, const struct tpa_process *process, const struct tpa_op_list *list,
		   uint64_t top);

/* Prints each op's shapes, below the tables. */
void tpa_shapes_print(const struct tpa_page *page, const struct tpa_op_list *list, uint64_t top);

/*
 * Prints a line on how many calls of PyTorch's operators have known work, and which don't; nothing if there were no
 * calls.
 */
void tpa_work_known_print(const struct tpa_page *page, const struct tpa_process *process);
#endif
