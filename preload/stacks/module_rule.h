/* SPDX-License-Identifier: Apache-2.0 */
/* A frame rule from whichever of its module's tables covers the PC: .eh_frame, else .debug_frame. Without either, a guess from the code. */
#ifndef TPROF_STACKS_MODULE_RULE_H
#define TPROF_STACKS_MODULE_RULE_H

#include "stacks/modules.h"
#include "stacks/rule.h"

/* As tpc_rule_find(); `reg`: the register that the rule tells, as fp. */
struct tpc_rule tpc_module_rule(const struct tpc_module_at *module, uintptr_t pc, bool exact, unsigned int reg,
				struct tpc_range *holds);

#endif
