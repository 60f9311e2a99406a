/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/module_rule.h"

#include "stacks/code_rule.h"
#include "stacks/rule_find.h"

/* Modules are mixed: the linker adds files that have .eh_frame, and assembly may have either, or none. */
static TPC_SLOW struct tpc_rule by_debug_frame(const struct tpc_module_at *module, uintptr_t pc, bool exact,
					       unsigned int reg, struct tpc_range *holds)
{
	const struct tpc_debug_frame *tables = module->module ? tpc_module_debug_frame(module) : NULL;

	return tables ? tpc_rule_find_debug(tables, pc, exact, reg, holds) : (struct tpc_rule){ .kind = TPC_RULE_NONE };
}

struct tpc_rule tpc_module_rule(const struct tpc_module_at *module, uintptr_t pc, bool exact, unsigned int reg,
				struct tpc_range *holds)
{
	struct tpc_rule rule = { .kind = TPC_RULE_NONE };

	*holds = (struct tpc_range){ 0, 0 };
	if (module->eh_frame_hdr)
		rule = tpc_rule_find(module->eh_frame_hdr, pc, exact, reg, holds);
	if (rule.kind == TPC_RULE_NONE)
		rule = by_debug_frame(module, pc, exact, reg, holds);
	return rule.kind == TPC_RULE_NONE && reg == TPC_REG_FP ? tpc_code_rule(tpc_module_code(pc), pc, exact) : rule;
}
