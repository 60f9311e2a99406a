/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/code_rule.h"

#include "arch/x86_64/instruction.h"

#define INSTRUCTIONS_MOST 10000u /* some 10 ns each */
#define WAYS 12u
#define TARGETS 96u
#define AFTER_EPILOGUE 3u /* instructions from it to a jump out of the function, at most */
#define REALIGNED 10u	  /* %r10, in which gcc keeps the CFA while it realigns the stack */

enum base { ON_SP, ON_FP, ON_LOAD, ON_NOTHING }; /* of what the PC's frame has */

struct place { /* base + n; ON_LOAD: load(from + at) + n */
	uint8_t base, from;
	int32_t at;
	int32_t n; /* wraps around, in code that nobody wrote */
};

enum value { SAME, SAVED, COMPUTED, LOST };

struct state {
	struct place sp, kept; /* kept: where REALIGNED was loaded from; ON_NOTHING: it was not */
	struct place fp;       /* SAVED: loaded from there; COMPUTED: it is that */
	struct place pushed;   /* where fp was pushed since, and what it was; ON_NOTHING: it was not */
	struct place pushed_fp;
	uint8_t fp_value, pushed_value; /* enum value */
};

struct way {
	uint32_t at; /* from code.low */
	struct state state;
};

struct search {
	struct tpc_range code;
	uint32_t left; /* instructions that may still be read */
	uint32_t way_count, target_count;
	bool has_last;
	struct way last;
	struct way ways[WAYS];
	uint32_t targets[TARGETS];
};

/* ---- what an instruction changes ---- */

/* fp is loaded from the stack: what was saved there before the PC, or pushed since. */
static void load_fp(struct state *state, struct place from)
{
	if (state->pushed.base <= ON_FP && state->pushed.base == from.base && state->pushed.n == from.n) {
		state->fp = state->pushed_fp;
		state->fp_value = state->pushed_value;
		return;
	}
	state->fp = from;
	state->fp_value = from.base > ON_FP || (from.base == ON_SP && from.n < 0) ? LOST : SAVED;
}

static int32_t plus(int32_t n, int32_t more)
{
	return (int32_t)((uint32_t)n + (uint32_t)more);
}

static struct place behind(struct place place, int32_t n)
{
	place.n = plus(place.n, n);
	return place;
}

/* fp + n */
static struct place from_fp(const struct state *state, int32_t n)
{
	if (state->fp_value == SAME)
		return (struct place){ .base = ON_FP, .n = n };
	return state->fp_value == COMPUTED ? behind(state->fp, n) : (struct place){ .base = ON_NOTHING };
}

static struct place from_kept(const struct state *state, const struct tpc_arch_instruction *instruction)
{
	if (instruction->reg != REALIGNED || state->kept.base > ON_FP)
		return (struct place){ .base = ON_NOTHING };
	return (struct place){ .base = ON_LOAD, .from = state->kept.base, .at = state->kept.n, .n = instruction->n };
}

static void push(struct state *state, uint8_t reg)
{
	state->sp = behind(state->sp, -8);
	if (reg != TPC_ARCH_NUMBER_FP)
		return;
	state->pushed = state->sp;
	state->pushed_fp = state->fp;
	state->pushed_value = state->fp_value;
}

static void pop(struct state *state, uint8_t reg)
{
	if (reg == TPC_ARCH_NUMBER_FP)
		load_fp(state, state->sp);
	else if (reg == REALIGNED)
		state->kept = state->sp;
	state->sp = behind(state->sp, 8);
	if (reg == TPC_ARCH_NUMBER_SP)
		state->sp.base = ON_NOTHING;
}

static void change(struct state *state, const struct tpc_arch_instruction *by)
{
	switch ((enum tpc_arch_effect)by->effect) {
	case TPC_EFFECT_SP_ADD:
		state->sp = behind(state->sp, by->n);
		return;
	case TPC_EFFECT_SP_FP:
		state->sp = from_fp(state, by->n);
		return;
	case TPC_EFFECT_SP_REG:
		state->sp = from_kept(state, by);
		return;
	case TPC_EFFECT_SP_LOST:
		state->sp.base = ON_NOTHING;
		return;
	case TPC_EFFECT_PUSH:
		push(state, by->reg);
		return;
	case TPC_EFFECT_POP:
		pop(state, by->reg);
		return;
	case TPC_EFFECT_LEAVE:
		state->sp = from_fp(state, 0);
		pop(state, TPC_ARCH_NUMBER_FP);
		return;
	case TPC_EFFECT_FP_SP:
		state->fp = behind(state->sp, by->n);
		state->fp_value = COMPUTED;
		return;
	case TPC_EFFECT_FP_LOAD:
		load_fp(state, behind(state->sp, by->n));
		return;
	case TPC_EFFECT_FP_LOST:
		state->fp_value = LOST;
		return;
	case TPC_EFFECT_REG_LOAD:
		if (by->reg == REALIGNED)
			state->kept = from_fp(state, by->n);
		return;
	case TPC_EFFECT_CALL:
		state->kept.base = ON_NOTHING;
		return;
	default:
		return;
	}
}

/* ---- the rule at a return ---- */

static bool fits(int64_t n)
{
	return n == (int32_t)n;
}

static bool set_cfa(struct tpc_rule *rule, const struct place *sp)
{
	int64_t cfa = (int64_t)sp->n + 8;

	if (!fits(cfa) || cfa & 7)
		return false;
	rule->cfa = (int32_t)cfa;
	switch (sp->base) {
	case ON_SP:
		rule->kind = TPC_RULE_SP;
		return cfa >= 8;
	case ON_FP:
		rule->kind = TPC_RULE_FP;
		return cfa >= 16; /* above the saved fp */
	case ON_LOAD:
		rule->kind = sp->from == ON_SP ? TPC_RULE_SP_LOAD : TPC_RULE_FP_LOAD;
		rule->cfa = sp->at;
		rule->more = (uint8_t)cfa;
		return cfa == rule->more;
	}
	return false;
}

/* A function gives fp back as it found it. If it does not, what was read is no such way. */
static bool set_fp(struct tpc_rule *rule, const struct state *state)
{
	rule->fp_kind = TPC_FP_SAME;
	if (state->fp_value == SAME)
		return state->sp.base == ON_SP;
	if (state->fp_value != SAVED || !fits((int64_t)state->fp.n - state->sp.n - 8))
		return false;
	if (state->fp.base == state->sp.base) {
		rule->fp_kind = TPC_FP_AT_CFA;
		rule->fp = (int32_t)(state->fp.n - state->sp.n - 8);
		return rule->fp <= -16;
	}
	rule->fp_kind = state->fp.base == ON_FP ? TPC_FP_AT_FP : TPC_FP_LOST;
	rule->fp = state->fp.n;
	return true;
}

static bool make_rule(struct tpc_rule *rule, const struct state *state)
{
	*rule = (struct tpc_rule){ .guessed = true };
	return set_cfa(rule, &state->sp) && set_fp(rule, state);
}

/* ---- ways through the code ---- */

/* False: it was reached before, or is not in the code. */
static bool is_new(struct search *search, int64_t target)
{
	if (target < 0 || target >= (int64_t)(search->code.high - search->code.low) || !fits(target) ||
	    search->target_count == TARGETS)
		return false;
	for (uint32_t i = 0; i < search->target_count; i++)
		if (search->targets[i] == (uint32_t)target)
			return false;
	search->targets[search->target_count++] = (uint32_t)target;
	return true;
}

static void try_later(struct search *search, int64_t target, const struct state *state)
{
	if (search->way_count < WAYS && is_new(search, target))
		search->ways[search->way_count++] = (struct way){ (uint32_t)target, *state };
}

/* It goes on behind a call that may not return, to be followed if no other way leads to a return. */
static void put_last(struct search *search, const struct way *way)
{
	if (!search->has_last)
		search->last = *way;
	search->has_last = true;
}

/* Behind a call that does not return is another function, or what fills the space before it. */
static bool may_be_another(uintptr_t at, const struct tpc_arch_instruction *instruction)
{
	return instruction->effect == TPC_EFFECT_ENTRY || instruction->effect == TPC_EFFECT_FILLER ||
	       (instruction->effect == TPC_EFFECT_PUSH && at % TPC_ARCH_FUNCTION_ALIGNMENT == 0);
}

/* As an epilogue does. */
static bool raises(const struct tpc_arch_instruction *instruction)
{
	return instruction->effect == TPC_EFFECT_POP || instruction->effect == TPC_EFFECT_LEAVE ||
	       (instruction->effect == TPC_EFFECT_SP_ADD && instruction->n > 0);
}

/* Goes on to a return, or to a place from which no instruction leads on. */
static bool follow(struct search *search, struct way *way, bool after_call, struct tpc_rule *rule)
{
	unsigned int raised = AFTER_EPILOGUE;

	while (search->left-- > 0) {
		const uint8_t *at = (const uint8_t *)search->code.low + way->at;
		struct tpc_arch_instruction instruction;
		int64_t target;

		if (!tpc_arch_instruction_read(at, search->code.high - (uintptr_t)at, &instruction))
			return false;
		if (after_call && may_be_another((uintptr_t)at, &instruction)) {
			put_last(search, way);
			return false;
		}
		way->at += instruction.length;
		target = (int64_t)way->at + instruction.n;
		after_call = instruction.effect == TPC_EFFECT_CALL;
		raised = raises(&instruction) ? 0 : raised + 1;
		switch (instruction.effect) {
		case TPC_EFFECT_JUMP_REG:
			if (raised > AFTER_EPILOGUE)
				return false;
			return make_rule(rule, &way->state);
		case TPC_EFFECT_RETURN:
		case TPC_EFFECT_LEAVES:
			return make_rule(rule, &way->state);
		case TPC_EFFECT_END:
			return false;
		case TPC_EFFECT_JUMP_IF:
			try_later(search, target, &way->state);
			break;
		case TPC_EFFECT_JUMP:
			if (!is_new(search, target))
				return false;
			way->at = (uint32_t)target;
			break;
		default:
			change(&way->state, &instruction);
		}
	}
	search->left = 0;
	return false;
}

static bool next_way(struct search *search, struct way *way)
{
	bool found = search->left && (search->way_count || search->has_last);

	if (found && search->way_count) {
		*way = search->ways[--search->way_count];
	} else if (found) {
		*way = search->last;
		search->has_last = false;
	}
	return found;
}

/* Ways that are not taken first: they are the likelier ones, and calls that do not return mostly stand apart. */
struct tpc_rule tpc_code_rule(struct tpc_range code, uintptr_t pc, bool exact)
{
	struct search search = { .code = code, .left = INSTRUCTIONS_MOST };
	struct way way = { .state = { .kept.base = ON_NOTHING, .pushed.base = ON_NOTHING } };
	bool after_call = !exact;
	struct tpc_rule rule;

	if (!tpc_range_holds(code, pc) || code.high - code.low > INT32_MAX)
		return (struct tpc_rule){ .kind = TPC_RULE_NONE };
	way.at = (uint32_t)(pc - code.low);
	while (!follow(&search, &way, after_call, &rule)) {
		if (!next_way(&search, &way))
			return (struct tpc_rule){ .kind = TPC_RULE_NONE };
		after_call = false;
	}
	return rule;
}

bool tpc_code_follows_call(struct tpc_range code, uintptr_t pc)
{
	for (size_t bytes = 2; bytes <= 7 && pc >= code.low + bytes && pc <= code.high; bytes++) {
		struct tpc_arch_instruction instruction;

		if (tpc_arch_instruction_read((const uint8_t *)pc - bytes, bytes, &instruction) &&
		    instruction.length == bytes && instruction.effect == TPC_EFFECT_CALL)
			return true;
	}
	return false;
}
