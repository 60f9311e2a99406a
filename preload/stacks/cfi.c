/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/cfi.h"

enum { /* DWARF 5, table 7.29, and GNU's */
       CFA_ADVANCE = 0x40,
       CFA_OFFSET = 0x80,
       CFA_RESTORE = 0xc0,
       CFA_NOP = 0x00,
       CFA_SET_LOC = 0x01,
       CFA_ADVANCE1 = 0x02,
       CFA_ADVANCE2 = 0x03,
       CFA_ADVANCE4 = 0x04,
       CFA_OFFSET_EXTENDED = 0x05,
       CFA_RESTORE_EXTENDED = 0x06,
       CFA_UNDEFINED = 0x07,
       CFA_SAME_VALUE = 0x08,
       CFA_REGISTER = 0x09,
       CFA_REMEMBER = 0x0a,
       CFA_RESTORE_STATE = 0x0b,
       CFA_DEF = 0x0c,
       CFA_DEF_REGISTER = 0x0d,
       CFA_DEF_OFFSET = 0x0e,
       CFA_DEF_EXPRESSION = 0x0f,
       CFA_EXPRESSION = 0x10,
       CFA_OFFSET_EXTENDED_SF = 0x11,
       CFA_DEF_SF = 0x12,
       CFA_DEF_OFFSET_SF = 0x13,
       CFA_VAL_OFFSET = 0x14,
       CFA_VAL_OFFSET_SF = 0x15,
       CFA_VAL_EXPRESSION = 0x16,
       CFA_GNU_ARGS_SIZE = 0x2e,
       CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

#define REMEMBER_MAX 8

struct run {
	struct tpc_cfi *cfi;
	struct tpc_cursor in;
	struct tpc_cfi_row remembered[REMEMBER_MAX];
	unsigned int depth;
};

static struct tpc_save *save_of(struct tpc_cfi *cfi, struct tpc_cfi_row *row, uint64_t reg)
{
	if (reg == cfi->kept_register)
		return &row->kept;
	return reg == cfi->ra_register ? &row->ra : NULL;
}

static void set(struct run *run, uint64_t reg, enum tpc_save_kind kind, int64_t offset)
{
	struct tpc_save *save = save_of(run->cfi, &run->cfi->row, reg);

	if (save)
		*save = (struct tpc_save){ .kind = kind, .offset = offset };
}

static void restore(struct run *run, uint64_t reg)
{
	struct tpc_save *save = save_of(run->cfi, &run->cfi->row, reg);

	if (save)
		*save = *save_of(run->cfi, &run->cfi->initial, reg);
}

static struct tpc_cursor block(struct run *run)
{
	uint64_t length = tpc_read_uleb(&run->in);
	struct tpc_cursor bytes = run->in;

	if (length > (uint64_t)(run->in.end - run->in.at))
		length = (uint64_t)(run->in.end - run->in.at);
	run->in.at += length;
	bytes.end = run->in.at;
	return bytes;
}

static void set_block(struct run *run, enum tpc_save_kind kind)
{
	uint64_t reg = tpc_read_uleb(&run->in);
	struct tpc_save *save = save_of(run->cfi, &run->cfi->row, reg);
	struct tpc_cursor expression = block(run);

	if (save)
		*save = (struct tpc_save){ .kind = kind, .expression = expression };
}

static int64_t factored(struct run *run, bool is_signed)
{
	int64_t n = is_signed ? tpc_read_sleb(&run->in) : (int64_t)tpc_read_uleb(&run->in);

	return n * run->cfi->data_align;
}

/* Instructions that say where a register is. */
static bool run_register(struct run *run, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_EXPRESSION:
		set_block(run, TPC_SAVE_EXPRESSION);
		return true;
	case CFA_VAL_EXPRESSION:
		set_block(run, TPC_SAVE_OTHER);
		return true;
	}
	reg = tpc_read_uleb(&run->in);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_EXTENDED_SF:
		set(run, reg, TPC_SAVE_OFFSET, factored(run, op == CFA_OFFSET_EXTENDED_SF));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET:
		set(run, reg, TPC_SAVE_OFFSET, -factored(run, false));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(run, reg);
		return true;
	case CFA_UNDEFINED:
		set(run, reg, TPC_SAVE_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		set(run, reg, TPC_SAVE_NONE, 0);
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		tpc_read_uleb(&run->in); /* one more number, of either sign the same length */
		set(run, reg, TPC_SAVE_OTHER, 0);
		return true;
	}
	return false;
}

/* Instructions that say what the CFA is. */
static bool run_cfa(struct run *run, uint8_t op)
{
	struct tpc_cfi_row *row = &run->cfi->row;

	switch (op) {
	case CFA_DEF:
	case CFA_DEF_SF:
		row->cfa_is_expression = false;
		row->cfa_register = tpc_read_uleb(&run->in);
		row->cfa_offset = op == CFA_DEF ? (int64_t)tpc_read_uleb(&run->in) : factored(run, true);
		return true;
	case CFA_DEF_REGISTER:
		row->cfa_register = tpc_read_uleb(&run->in);
		return true;
	case CFA_DEF_OFFSET:
		row->cfa_offset = (int64_t)tpc_read_uleb(&run->in);
		return true;
	case CFA_DEF_OFFSET_SF:
		row->cfa_offset = factored(run, true);
		return true;
	case CFA_DEF_EXPRESSION:
		row->cfa_is_expression = true;
		row->cfa_expression = block(run);
		return true;
	case CFA_GNU_ARGS_SIZE:
		tpc_read_uleb(&run->in);
		return true;
	}
	return run_register(run, op);
}

static bool run_state(struct run *run, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_REMEMBER:
		if (run->depth == REMEMBER_MAX)
			return false;
		run->remembered[run->depth++] = run->cfi->row;
		return true;
	case CFA_RESTORE_STATE:
		if (run->depth == 0)
			return false;
		run->cfi->row = run->remembered[--run->depth];
		return true;
	}
	return run_cfa(run, op);
}

/* How far an instruction advances the location; 0: it does not. */
static bool advance(struct run *run, uint8_t op, uint64_t *units)
{
	switch (op) {
	case CFA_ADVANCE1:
		*units = tpc_read_fixed(&run->in, 1);
		return true;
	case CFA_ADVANCE2:
		*units = tpc_read_fixed(&run->in, 2);
		return true;
	case CFA_ADVANCE4:
		*units = tpc_read_fixed(&run->in, 4);
		return true;
	}
	*units = op & 0x3f;
	return (op & 0xc0) == CFA_ADVANCE;
}

bool tpc_cfi_run(struct tpc_cfi *cfi, struct tpc_cursor instructions, uintptr_t pc)
{
	struct run run = { .cfi = cfi, .in = instructions };

	while (run.in.at < run.in.end) {
		uint8_t op = *run.in.at++;
		uintptr_t before = cfi->location;
		uint64_t units;

		if (advance(&run, op, &units)) {
			cfi->location += units * cfi->code_align;
		} else if (op == CFA_SET_LOC) {
			cfi->location = tpc_read_pointer(&run.in, cfi->pointer_encoding, 0) + cfi->bias;
		} else if ((op & 0xc0) == CFA_OFFSET) {
			set(&run, op & 0x3f, TPC_SAVE_OFFSET, factored(&run, false));
			continue;
		} else if ((op & 0xc0) == CFA_RESTORE) {
			restore(&run, op & 0x3f);
			continue;
		} else if (!run_state(&run, op)) {
			return false;
		} else {
			continue;
		}
		if (cfi->location > pc) {
			cfi->holds = (struct tpc_range){ before, cfi->location };
			return true;
		}
	}
	cfi->holds = (struct tpc_range){ cfi->location, UINTPTR_MAX };
	return true;
}

/* ---- expressions: a register plus an offset, a load from that plus a constant, or a constant ---- */

struct value {
	enum { VALUE_BAD, VALUE_CONSTANT, VALUE_REGISTER, VALUE_LOAD } base;
	uint64_t reg;
	int64_t n;    /* the constant, or the offset (of the address to load from) */
	int64_t more; /* added to what was loaded */
};

#define STACK_MAX 8

struct machine {
	struct value stack[STACK_MAX];
	unsigned int depth;
	uintptr_t pc;
};

static bool push(struct machine *machine, struct value value)
{
	if (machine->depth == STACK_MAX)
		return false;
	machine->stack[machine->depth++] = value;
	return true;
}

static bool push_constant(struct machine *machine, int64_t n)
{
	return push(machine, (struct value){ .base = VALUE_CONSTANT, .n = n });
}

static bool push_register(struct machine *machine, unsigned int reg, int64_t offset)
{
	if (reg == TPC_REG_RA) /* the program counter: a constant here, as a rule belongs to one */
		return push_constant(machine, (int64_t)machine->pc + offset);
	return push(machine, (struct value){ .base = VALUE_REGISTER, .reg = reg, .n = offset });
}

static bool binary(struct machine *machine, uint8_t op)
{
	struct value *a, b;

	if (machine->depth < 2)
		return false;
	b = machine->stack[--machine->depth];
	a = &machine->stack[machine->depth - 1];
	if (b.base != VALUE_CONSTANT)
		return false;
	if (op == 0x22) { /* plus */
		*(a->base == VALUE_LOAD ? &a->more : &a->n) += b.n;
		return true;
	}
	if (a->base != VALUE_CONSTANT)
		return false;
	switch (op) {
	case 0x1a: /* and */
		a->n &= b.n;
		return true;
	case 0x1c: /* minus */
		a->n -= b.n;
		return true;
	case 0x24: /* shl */
		a->n = (int64_t)((uint64_t)a->n << (b.n & 63));
		return true;
	case 0x2a: /* ge */
		a->n = a->n >= b.n;
		return true;
	}
	return false;
}

static bool load(struct machine *machine)
{
	struct value *top = &machine->stack[machine->depth - 1];

	if (machine->depth == 0 || top->base != VALUE_REGISTER)
		return false;
	top->base = VALUE_LOAD;
	return true;
}

static bool step(struct machine *machine, struct tpc_cursor *in)
{
	uint8_t op = *in->at++;

	if (op >= 0x30 && op <= 0x4f) /* lit0 ... lit31 */
		return push_constant(machine, op - 0x30);
	if (op >= 0x70 && op <= 0x8f) /* breg0 ... breg31 */
		return push_register(machine, op - 0x70u, tpc_read_sleb(in));
	switch (op) {
	case 0x06: /* deref */
		return load(machine);
	case 0x08: /* const1u */
		return push_constant(machine, (int64_t)tpc_read_fixed(in, 1));
	case 0x0a: /* const2u */
		return push_constant(machine, (int64_t)tpc_read_fixed(in, 2));
	case 0x23: /* plus_uconst */
		return push_constant(machine, (int64_t)tpc_read_uleb(in)) && binary(machine, 0x22);
	}
	return binary(machine, op);
}

static struct value evaluate(struct tpc_cursor expression, uintptr_t pc)
{
	struct machine machine = { .pc = pc };

	while (expression.at < expression.end) {
		if (!step(&machine, &expression))
			return (struct value){ .base = VALUE_BAD };
	}
	return machine.depth == 1 ? machine.stack[0] : (struct value){ .base = VALUE_BAD };
}

/* ---- row to rule ---- */

static bool fits(int64_t n)
{
	return n == (int32_t)n;
}

static void set_cfa(struct tpc_rule *rule, const struct tpc_cfi_row *row, uintptr_t pc)
{
	struct value value = { .base = VALUE_REGISTER, .reg = row->cfa_register, .n = row->cfa_offset };
	bool by_rsp, by_rbp;

	if (row->cfa_is_expression)
		value = evaluate(row->cfa_expression, pc);
	by_rsp = value.reg == TPC_REG_SP;
	by_rbp = value.reg == TPC_REG_FP;
	if (!fits(value.n) || value.reg >= TPC_REG_RA)
		return;
	rule->cfa = (int32_t)value.n;
	if (value.base == VALUE_REGISTER) {
		rule->kind = by_rsp ? TPC_RULE_SP : by_rbp ? TPC_RULE_FP : TPC_RULE_OTHER;
		rule->more = (uint8_t)value.reg;
	} else if (value.base == VALUE_LOAD && (by_rsp || by_rbp) && value.more == (uint8_t)value.more) {
		rule->kind = by_rsp ? TPC_RULE_SP_LOAD : TPC_RULE_FP_LOAD;
		rule->more = (uint8_t)value.more;
	}
}

static void set_kept(struct tpc_rule *rule, const struct tpc_save *save, uintptr_t pc)
{
	struct value value;

	switch (save->kind) {
	case TPC_SAVE_NONE:
		return;
	case TPC_SAVE_OFFSET:
		rule->fp_kind = fits(save->offset) ? TPC_FP_AT_CFA : TPC_FP_LOST;
		rule->fp = (int32_t)save->offset;
		return;
	case TPC_SAVE_EXPRESSION:
		value = evaluate(save->expression, pc);
		rule->fp_kind = value.base == VALUE_REGISTER && value.reg == TPC_REG_FP && fits(value.n) ? TPC_FP_AT_FP
													 : TPC_FP_LOST;
		rule->fp = (int32_t)value.n;
		return;
	default:
		rule->fp_kind = TPC_FP_LOST;
	}
}

struct tpc_rule tpc_cfi_rule(const struct tpc_cfi_row *row, uintptr_t pc)
{
	struct tpc_rule rule = { .kind = TPC_RULE_UNKNOWN };

	if (row->ra.kind == TPC_SAVE_UNDEFINED) {
		rule.kind = TPC_RULE_END;
		return rule;
	}
	if (row->ra.kind != TPC_SAVE_OFFSET || row->ra.offset != -8)
		return rule;
	set_cfa(&rule, row, pc);
	set_kept(&rule, &row->kept, pc);
	return rule;
}
