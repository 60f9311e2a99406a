/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/step.h"

#include "core/stackrange.h"

#include <tprof/format.h>

/* Offsets in the kernel's ucontext, x86-64 (asm/sigcontext.h behind uc_flags, uc_link, uc_stack). */
#define UCONTEXT_RBP 120
#define UCONTEXT_RSP 160
#define UCONTEXT_RIP 168

static uintptr_t load(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

static bool readable(const struct tp_stepper *stepper, uintptr_t slot)
{
	return slot >= stepper->readable.low && slot <= stepper->readable.high - sizeof(uintptr_t) &&
	       slot % sizeof(uintptr_t) == 0;
}

static bool stop(struct tp_stepper *stepper, uint32_t root)
{
	stepper->root = root;
	return false;
}

/* The caller's frame begins at `cfa`, its PC stands just below. */
static bool step_to(struct tp_stepper *stepper, uintptr_t cfa, uintptr_t bp)
{
	if (cfa <= stepper->at.sp || !readable(stepper, cfa - 8))
		return stop(stepper, TPROF_NODE_SHORT);
	stepper->at = (struct tp_registers){ .pc = load(cfa - 8), .sp = cfa, .bp = bp };
	stepper->exact = false;
	return stepper->at.pc ? true : stop(stepper, TPROF_NODE_ROOT);
}

/* A frame that no table describes: JIT code has good frame pointers; ld.so's first frame is the end of the stack. */
static bool step_by_bp(struct tp_stepper *stepper, struct tp_step *step)
{
	uintptr_t bp = stepper->at.bp;

	if (stepper->at.sp + 64 >= tp_stack_main_end() && stepper->at.sp <= tp_stack_main_end() + 64)
		return stop(stepper, TPROF_NODE_ROOT);
	if (bp < stepper->at.sp || !readable(stepper, bp) || !readable(stepper, bp + 8))
		return stop(stepper, TPROF_NODE_SHORT);
	step->by_bp = true;
	step->bp_slot = bp;
	return step_to(stepper, bp + 16, load(bp));
}

/* The kernel pushed the interrupted registers. They may be on another stack: the handler had one of its own. */
static bool step_by_signal(struct tp_stepper *stepper, const struct tp_thread *thread)
{
	uintptr_t context = stepper->at.sp;
	struct tp_registers at;

	if (!readable(stepper, context) || !readable(stepper, context + UCONTEXT_RIP))
		return stop(stepper, TPROF_NODE_SHORT);
	at = (struct tp_registers){ load(context + UCONTEXT_RIP), load(context + UCONTEXT_RSP),
				    load(context + UCONTEXT_RBP) };
	if (at.sp < stepper->readable.low || at.sp >= stepper->readable.high) {
		if (at.sp < thread->own.low || at.sp >= thread->own.high)
			return stop(stepper, TPROF_NODE_SHORT);
		stepper->readable = (struct tp_range){ at.sp, thread->own.high };
	}
	stepper->at = at;
	stepper->exact = true;
	return at.pc ? true : stop(stepper, TPROF_NODE_SHORT);
}

static bool find_cfa(struct tp_stepper *stepper, struct tp_step *step, uintptr_t *cfa)
{
	const struct tp_rule *rule = &step->frame.rule;
	bool from_rsp = rule->kind == TP_RULE_RSP || rule->kind == TP_RULE_RSP_LOAD;

	*cfa = (from_rsp ? stepper->at.sp : stepper->at.bp) + (uintptr_t)(intptr_t)rule->cfa;
	if (tp_likely(rule->kind == TP_RULE_RSP || rule->kind == TP_RULE_RBP))
		return true;
	if (!readable(stepper, *cfa))
		return stop(stepper, TPROF_NODE_SHORT);
	step->cfa_slot = *cfa;
	*cfa = load(*cfa);
	return true;
}

bool tp_step_out(struct tp_stepper *stepper, struct tp_step *step, const struct tp_thread *thread)
{
	const struct tp_rule *rule = &step->frame.rule;
	uintptr_t cfa, bp = stepper->at.bp;

	switch (rule->kind) {
	case TP_RULE_NONE:
		return step_by_bp(stepper, step);
	case TP_RULE_END:
		return stop(stepper, TPROF_NODE_ROOT);
	case TP_RULE_SIGNAL:
		return step_by_signal(stepper, thread);
	}
	if (!find_cfa(stepper, step, &cfa))
		return false;
	if (rule->rbp_kind == TP_RBP_AT_CFA || rule->rbp_kind == TP_RBP_AT_RBP) {
		uintptr_t slot = (rule->rbp_kind == TP_RBP_AT_CFA ? cfa : bp) + (uintptr_t)(intptr_t)rule->rbp;

		if (stepper->exact && slot < stepper->at.sp)
			return step_to(stepper, cfa, bp); /* in an epilogue: it was popped, though no rule says so */
		if (!readable(stepper, slot))
			return stop(stepper, TPROF_NODE_SHORT);
		step->bp_slot = slot;
		bp = load(slot);
	}
	return step_to(stepper, cfa, bp);
}
