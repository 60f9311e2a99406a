/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/step.h"

#include "stacks/moved.h"

#include "core/stackrange.h"
#include "stacks/code_rule.h"
#include "stacks/dwarf.h"
#include "stacks/module_rule.h"
#include "stacks/modules.h"

#include <tprof/format.h>

#define LOWEST ((uintptr_t)1 << 16) /* vm.mmap_min_addr */

static uintptr_t load(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

static bool readable(const struct tpc_stepper *stepper, uintptr_t slot)
{
	return slot >= stepper->readable.low && slot <= stepper->readable.high - sizeof(uintptr_t) &&
	       slot % sizeof(uintptr_t) == 0;
}

static uintptr_t interrupted(uintptr_t context, unsigned int reg)
{
	return load(tpc_arch_saved_at(context, reg));
}

struct tpc_registers tpc_step_interrupted(uintptr_t context)
{
	return (struct tpc_registers){ .pc = tpc_moved_original(interrupted(context, TPC_REG_RA)),
				       .sp = interrupted(context, TPC_REG_SP),
				       .bp = interrupted(context, TPC_REG_FP) };
}

static bool stop(struct tpc_stepper *stepper, uint32_t root)
{
	stepper->root = root;
	return false;
}

/* The caller's frame begins at `cfa`, and its PC is just below. */
static bool step_to(struct tpc_stepper *stepper, uintptr_t cfa, uintptr_t bp)
{
	if (cfa <= stepper->at.sp || !readable(stepper, cfa - 8))
		return stop(stepper, TPROF_NODE_SHORT);
	stepper->at = (struct tpc_registers){ .pc = load(cfa - 8), .sp = cfa, .bp = bp };
	stepper->exact = false;
	return stepper->at.pc ? true : stop(stepper, TPROF_NODE_ROOT);
}

/* Could this be a return address: not a small number, and not on the stack? 0 is the end of a chain. */
static bool may_be_code(const struct tpc_stepper *stepper, uintptr_t pc)
{
	return !pc ||
	       (pc >= LOWEST && pc < TPC_ARCH_HIGHEST && (pc < stepper->readable.low || pc >= stepper->readable.high));
}

/*
 * A frame that no table describes: JIT code has good frame pointers; ld.so's first frame is the end of the stack. In
 * assembly without rules (OpenBLAS's kernels) fp may be anything that its callers keep there.
 */
static bool step_by_bp(struct tpc_stepper *stepper, struct tpc_step *step)
{
	uintptr_t bp = stepper->at.bp;

	if (stepper->at.sp + 64 >= tpc_stack_main_end() && stepper->at.sp <= tpc_stack_main_end() + 64)
		return stop(stepper, TPROF_NODE_ROOT);
	if (bp < stepper->at.sp || !readable(stepper, bp) || !readable(stepper, bp + 8))
		return stop(stepper, TPROF_NODE_SHORT);
	step->by_bp = true;
	step->bp_slot = bp;
	if (!may_be_code(stepper, load(bp + 8))) {
		step->cfa_slot = bp + 8; /* the walk depends on it */
		return stop(stepper, TPROF_NODE_SHORT);
	}
	return step_to(stepper, bp + 16, load(bp));
}

/* The kernel pushed the interrupted registers. They may be on another stack, if the handler has its own. */
static bool step_by_signal(struct tpc_stepper *stepper, const struct tpc_thread *thread)
{
	uintptr_t context = stepper->at.sp;
	struct tpc_registers at;

	if (!readable(stepper, context) || !readable(stepper, tpc_arch_saved_at(context, TPC_REG_RA)))
		return stop(stepper, TPROF_NODE_SHORT);
	at = tpc_step_interrupted(context);
	if (at.sp < stepper->readable.low || at.sp >= stepper->readable.high) {
		if (at.sp < thread->own.low || at.sp >= thread->own.high)
			return stop(stepper, TPROF_NODE_SHORT);
		stepper->readable = (struct tpc_range){ at.sp, thread->own.high };
	}
	stepper->at = at;
	stepper->exact = true;
	return at.pc ? true : stop(stepper, TPROF_NODE_SHORT);
}

/* The ucontext of an interrupted frame; 0: the frame was not interrupted. */
static uintptr_t context_of(const struct tpc_stepper *stepper, const struct tpc_step *step)
{
	if (step == stepper->first)
		return stepper->context;
	return step[-1].frame.rule.kind == TPC_RULE_SIGNAL ? step[-1].at.sp : 0;
}

/*
 * Where a called function has saved the register; TPC_FP_LOST: unknown. In an epilogue it was popped, although no rule
 * says so: the register has its old value again.
 */
static enum tpc_rule_fp saved_at(const struct tpc_stepper *stepper, const struct tpc_step *called, unsigned int reg,
				 uintptr_t *slot)
{
	struct tpc_module_at module = tpc_module_find(called->at.pc);
	bool exact = context_of(stepper, called) != 0;
	struct tpc_range holds;
	struct tpc_rule rule = tpc_module_rule(&module, called->at.pc, exact, reg, &holds);

	if (rule.kind <= TPC_RULE_UNKNOWN || rule.fp_kind == TPC_FP_AT_FP)
		return TPC_FP_LOST;
	*slot = called[1].at.sp + (uintptr_t)(intptr_t)rule.fp;
	if (rule.fp_kind == TPC_FP_AT_CFA && exact && *slot < called->at.sp)
		return TPC_FP_SAME;
	return rule.fp_kind;
}

/*
 * The value of a register in a frame: what it was when the frame was interrupted; for a callee-saved one, what the next
 * inner function has saved.
 */
static bool find_register(const struct tpc_stepper *stepper, const struct tpc_step *step, unsigned int reg,
			  uintptr_t *value)
{
	bool survives = tpc_arch_survives_calls(reg);
	uintptr_t context, slot;

	if (!stepper->first)
		return false;
	for (; (context = context_of(stepper, step)) == 0; step--) {
		enum tpc_rule_fp saved;

		if (!survives || step == stepper->first)
			return false;
		saved = saved_at(stepper, step - 1, reg, &slot);
		if (saved == TPC_FP_AT_CFA && readable(stepper, slot)) {
			*value = load(slot);
			return true;
		}
		if (saved != TPC_FP_SAME)
			return false;
	}
	*value = interrupted(context, reg);
	return true;
}

/* In a function that saves nothing there, the loaded word may be in the red zone. */
static bool load_cfa(struct tpc_stepper *stepper, struct tpc_step *step, uintptr_t slot, uintptr_t *cfa)
{
	if (!readable(stepper, slot) &&
	    !(stepper->exact && slot < stepper->at.sp && slot >= stepper->at.sp - TPC_ARCH_RED_ZONE))
		return false;
	step->cfa_slot = slot;
	*cfa = load(slot) + step->frame.rule.more;
	return true;
}

static bool find_cfa(struct tpc_stepper *stepper, struct tpc_step *step, uintptr_t *cfa)
{
	const struct tpc_rule *rule = &step->frame.rule;
	uintptr_t offset = (uintptr_t)(intptr_t)rule->cfa;

	switch (rule->kind) {
	case TPC_RULE_SP:
		*cfa = stepper->at.sp + offset;
		return true;
	case TPC_RULE_FP:
		*cfa = stepper->at.bp + offset;
		return true;
	case TPC_RULE_SP_LOAD:
		return load_cfa(stepper, step, stepper->at.sp + offset, cfa);
	case TPC_RULE_FP_LOAD:
		return load_cfa(stepper, step, stepper->at.bp + offset, cfa);
	case TPC_RULE_OTHER:
		if (!find_register(stepper, step, rule->more, cfa))
			return false;
		*cfa += offset;
		return true;
	}
	return false;
}

/* Does a guessed rule lead to a return address? Each follows a call. 0 is the end of a stack. */
static bool is_confirmed(const struct tpc_stepper *stepper, struct tpc_step *step, uintptr_t cfa)
{
	uintptr_t slot = cfa - 8, pc;

	if (cfa <= stepper->at.sp || !readable(stepper, slot))
		return false;
	pc = load(slot);
	if (!pc || tpc_code_follows_call(tpc_module_code(pc - 1), pc))
		return true;
	step->refuted = slot;
	return false;
}

bool tpc_step_out(struct tpc_stepper *stepper, struct tpc_step *step, const struct tpc_thread *thread)
{
	const struct tpc_rule *rule = &step->frame.rule;
	uintptr_t cfa, bp = stepper->at.bp;

	switch (rule->kind) {
	case TPC_RULE_NONE:
		return step_by_bp(stepper, step);
	case TPC_RULE_END:
		return stop(stepper, TPROF_NODE_ROOT);
	case TPC_RULE_SIGNAL:
		return step_by_signal(stepper, thread);
	}
	if (!find_cfa(stepper, step, &cfa))
		return stop(stepper, TPROF_NODE_SHORT);
	if (rule->guessed && !is_confirmed(stepper, step, cfa))
		return step_by_bp(stepper, step);
	if (rule->fp_kind == TPC_FP_AT_CFA || rule->fp_kind == TPC_FP_AT_FP) {
		uintptr_t slot = (rule->fp_kind == TPC_FP_AT_CFA ? cfa : bp) + (uintptr_t)(intptr_t)rule->fp;

		if (stepper->exact && slot < stepper->at.sp)
			return step_to(stepper, cfa, bp); /* in an epilogue: fp was popped, although no rule says so */
		if (!readable(stepper, slot))
			return stop(stepper, TPROF_NODE_SHORT);
		step->bp_slot = slot;
		bp = load(slot);
	} else if (rule->fp_kind == TPC_FP_LOST) {
		bp = 0; /* no frame is there: an outer frame that needs it ends the walk */
	}
	return step_to(stepper, cfa, bp);
}
