/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/lately.h"

#include "core/thread.h"
#include "stacks/frame_table.h"
#include "stacks/module_rule.h"

#define LATELY 16u

struct lately {
	uint32_t epoch; /* tpc_frames_epoch up to which they are valid */
	uint32_t next;	/* the next to be replaced */
	struct {
		uintptr_t low;
		uint64_t length; /* 0: none. Set last: a longjmp may interrupt this anywhere */
	} code[LATELY];
	struct tpc_ruled found[LATELY];
};

_Static_assert(sizeof(struct lately) <= TPC_RULES_BYTES, "what is remembered fits its room in struct tpc_thread");

static const struct tpc_ruled *recall(const struct lately *lately, uintptr_t at)
{
	for (uint32_t i = 1; i <= LATELY; i++) {
		uint32_t slot = (lately->next - i) % LATELY;

		if (at - lately->code[slot].low < lately->code[slot].length)
			return &lately->found[slot];
	}
	return NULL;
}

static void remember(struct lately *lately, struct tpc_range code, const struct tpc_ruled *found)
{
	uint32_t slot = lately->next++ % LATELY;

	lately->code[slot].length = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lately->code[slot].low = code.low;
	lately->found[slot] = *found;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lately->code[slot].length = code.high - code.low;
}

static struct tpc_ruled find_rule(uintptr_t pc, bool exact, struct tpc_range *code)
{
	struct tpc_module_at module = tpc_module_find(pc);
	struct tpc_ruled found = { .module = module.module, .start = module.start };

	found.rule = tpc_module_rule(&module, pc, exact, TPC_REG_FP, code);
	found.rule.module = (uint16_t)module.module;
	return found;
}

/* What is remembered is valid until a dlclose begins; during one, nothing is. */
struct tpc_ruled tpc_rule_lately(uintptr_t pc, bool exact)
{
	struct lately *lately = tpc_self ? (struct lately *)tpc_self->rules : NULL;
	uint32_t epoch = tpc_load_acquire(&tpc_frames_epoch);
	const struct tpc_ruled *known;
	struct tpc_ruled found;
	struct tpc_range code;

	if (lately && lately->epoch != epoch) {
		memset(lately, 0, sizeof(*lately));
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		lately->epoch = tpc_modules_renew();
	}
	if (lately && lately->epoch == epoch) {
		known = recall(lately, exact ? pc : pc - 1);
		if (known)
			return *known;
	}
	found = find_rule(pc, exact, &code);
	if (lately && code.high > code.low)
		remember(lately, code, &found);
	return found;
}
