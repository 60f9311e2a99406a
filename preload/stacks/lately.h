/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame rules that a thread worked out lately. Functions that register a library's operators call thousands of
 * others in turn, and have one rule for most of their code: for three in four new PCs of `import torch` one of the last
 * sixteen rules applies, and neither the module nor its .eh_frame is consulted.
 */
#ifndef TPROF_STACKS_LATELY_H
#define TPROF_STACKS_LATELY_H

#include "stacks/rule.h"

struct tpc_ruled {
	struct tpc_rule rule; /* with its module */
	uint32_t module;      /* its number; 0: the PC is in none */
	uintptr_t start;      /* of the module */
};

/* The rule at `pc`, and its module, for this thread. `exact`: as for tpc_rule_find(). */
struct tpc_ruled tpc_rule_lately(uintptr_t pc, bool exact);

#endif
