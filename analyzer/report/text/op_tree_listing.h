/* SPDX-License-Identifier: Apache-2.0 */
/* Prints call chains of ops, and the time of each layer, as tables. */
#ifndef TPROF_REPORT_TEXT_OP_TREE_LISTING_H
#define TPROF_REPORT_TEXT_OP_TREE_LISTING_H

#include "report/rows/call_tree.h"
#include "report/text/text.h"

/* Prints the `top` (0: all) call chains that took most, with all their callers. */
void tpa_op_tree_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top);

/*
 * A layer is an op of the category "layer". An op's self time belongs to the innermost layer around the call; calls
 * outside of all layers have their own row.
 */
void tpa_layers_print(const struct tpa_page *page, const struct tpa_process *process, uint64_t top);

#endif
