/* SPDX-License-Identifier: Apache-2.0 */
/* Caches, registries and pools of well-known libraries, which keep memory when the program is done with it. */
#ifndef TPROF_REPORT_HOLDERS_H
#define TPROF_REPORT_HOLDERS_H

#include "model/run.h"
#include "report/stack.h"

/*
 * What holds the memory of a stack, in words: proven by the library's function that allocated it, which does so for its
 * cache and for nothing else. NULL: no such function is in the stack, or it has no name. Static.
 */
const char *tp_stack_holder(const struct tp_stack *stack);

/* The same of a node. */
const char *tp_node_holder(const struct tp_trace *trace, struct tp_symbols *symbols, uint32_t node);

/* The same of mappings that a stack made; `file`: of files. Python's arenas are known by their size, too, where no name is left. */
const char *tp_mapping_holder(const struct tp_process *process, struct tp_symbols *symbols, uint32_t node, bool file);

#endif
