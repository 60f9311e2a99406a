/* SPDX-License-Identifier: Apache-2.0 */
/* Which op called which, and what each layer took, as tables. */
#ifndef TPROF_REPORT_TEXT_OP_TREE_LISTING_H
#define TPROF_REPORT_TEXT_OP_TREE_LISTING_H

#include "report/rows/call_tree.h"
#include "report/text/text.h"

/* The `top` (0: all) chains of calls that took most, with all that stand above them. */
void tpa_op_tree_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top);

/*
 * A layer is an op of the category "layer". What an op took itself belongs to the innermost layer that it was called in;
 * what was called in none has a row of its own.
 */
void tpa_layers_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top);

#endif
