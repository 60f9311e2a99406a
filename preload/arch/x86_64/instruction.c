/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AMD64 Architecture Programmer's Manual, volume 3, appendix A (opcode maps) and 1.2 (prefixes); Intel SDM, volume 2,
 * 2.7 (EVEX). tests/unit/preload_code_rule_test.c compares it with Zydis.
 */
#include "arch/x86_64/instruction.h"

#define LENGTH_MAX 15u
#define SP TPC_ARCH_NUMBER_SP
#define FP TPC_ARCH_NUMBER_FP
#define NONE TPC_ARCH_NUMBER_NONE

enum map { MAP_1, MAP_0F, MAP_0F38, MAP_0F3A, MAP_VEX_0F, MAP_VEX_0F38, MAP_VEX_0F3A, MAP_EVEX_FP16 };

struct parts {
	const uint8_t *code;
	size_t size, at;
	bool wide, narrow, repeat, address32; /* prefixes: REX.W, 66, F2 or F3, 67 */
	bool rex;
	uint8_t r, x, b; /* 8, or 0 */
	uint8_t map, op;
	bool has_modrm;
	uint8_t mod, reg, rm; /* of the ModRM byte; reg and rm with their high bits if they may be general registers */
	bool by_ip;	      /* an operand is relative to the instruction pointer */
	uint8_t base;	      /* of the operand in memory: base + disp. NONE: there is an index, or no base */
	int32_t disp;
	int64_t immediate;
};

/* One bit for each opcode, eight opcodes a byte. */
static bool is_in(const uint8_t set[32], uint8_t op)
{
	return set[op >> 3] >> (op & 7) & 1;
}

/* ---- opcode maps ---- */

/* Of the first map: with a ModRM byte. */
static const uint8_t one_modrm[32] = {
	[0x00 / 8] = 0x0f, [0x08 / 8] = 0x0f, [0x10 / 8] = 0x0f, [0x18 / 8] = 0x0f, [0x20 / 8] = 0x0f,
	[0x28 / 8] = 0x0f, [0x30 / 8] = 0x0f, [0x38 / 8] = 0x0f, [0x60 / 8] = 0x08, [0x68 / 8] = 0x0a,
	[0x80 / 8] = 0xfb, [0x88 / 8] = 0xff, [0xc0 / 8] = 0xc3, [0xd0 / 8] = 0x0f, [0xd8 / 8] = 0xff,
	[0xf0 / 8] = 0xc0, [0xf8 / 8] = 0xc0,
};

/* Not in 64-bit code; prefixes, which are read before; enter and far branches, which programs do not have. */
static const uint8_t one_bad[32] = {
	[0x00 / 8] = 0xc0, [0x08 / 8] = 0x40, [0x10 / 8] = 0xc0, [0x18 / 8] = 0xc0, [0x20 / 8] = 0xc0,
	[0x28 / 8] = 0xc0, [0x30 / 8] = 0xc0, [0x38 / 8] = 0xc0, [0x40 / 8] = 0xff, [0x48 / 8] = 0xff,
	[0x60 / 8] = 0xf3, [0x80 / 8] = 0x04, [0x98 / 8] = 0x04, [0xc8 / 8] = 0x4d, [0xd0 / 8] = 0x70,
	[0xe8 / 8] = 0x04, [0xf0 / 8] = 0x0d,
};

static const uint8_t one_byte_immediate[32] = {
	[0x00 / 8] = 0x10, [0x08 / 8] = 0x10, [0x10 / 8] = 0x10, [0x18 / 8] = 0x10, [0x20 / 8] = 0x10,
	[0x28 / 8] = 0x10, [0x30 / 8] = 0x10, [0x38 / 8] = 0x10, [0x68 / 8] = 0x0c, [0x70 / 8] = 0xff,
	[0x78 / 8] = 0xff, [0x80 / 8] = 0x09, [0xa8 / 8] = 0x01, [0xb0 / 8] = 0xff, [0xc0 / 8] = 0x43,
	[0xc8 / 8] = 0x20, [0xe0 / 8] = 0xff, [0xe8 / 8] = 0x08,
};

static const uint8_t one_long_immediate[32] = {
	[0x00 / 8] = 0x20, [0x08 / 8] = 0x20, [0x10 / 8] = 0x20, [0x18 / 8] = 0x20, [0x20 / 8] = 0x20,
	[0x28 / 8] = 0x20, [0x30 / 8] = 0x20, [0x38 / 8] = 0x20, [0x68 / 8] = 0x03, [0x80 / 8] = 0x02,
	[0xa8 / 8] = 0x02, [0xb8 / 8] = 0xff, [0xc0 / 8] = 0x80,
};

/* Of 0F: without a ModRM byte. */
static const uint8_t two_plain[32] = {
	[0x00 / 8] = 0xe0, [0x08 / 8] = 0x4b, [0x30 / 8] = 0xbf, [0x70 / 8] = 0x80, [0x80 / 8] = 0xff,
	[0x88 / 8] = 0xff, [0xa0 / 8] = 0x07, [0xa8 / 8] = 0x07, [0xc8 / 8] = 0xff,
};

static const uint8_t two_bad[32] = {
	[0x00 / 8] = 0x10, [0x08 / 8] = 0x94, [0x20 / 8] = 0xf0, [0x30 / 8] = 0x40, [0x38 / 8] = 0xfa,
	[0x78 / 8] = 0x0f, [0xa0 / 8] = 0xc0, [0xa8 / 8] = 0x04, [0xf8 / 8] = 0x80,
};

static const uint8_t two_byte_immediate[32] = {
	[0x70 / 8] = 0x0f, [0xa0 / 8] = 0x10, [0xa8 / 8] = 0x10, [0xb8 / 8] = 0x04, [0xc0 / 8] = 0x74,
};

/* Of 0F as VEX and EVEX have it. */
static const uint8_t vex_byte_immediate[32] = {
	[0x70 / 8] = 0x0f,
	[0xc0 / 8] = 0x74,
};

/* ---- reading ---- */

static bool take(struct parts *parts, uint8_t *byte)
{
	if (parts->at >= parts->size)
		return false;
	*byte = parts->code[parts->at++];
	return true;
}

/* A little-endian number with a sign, of 0, 1, 2, 4 or 8 bytes. */
static bool take_number(struct parts *parts, size_t bytes, int64_t *number)
{
	uint64_t n = 0;

	if (parts->size - parts->at < bytes)
		return false;
	for (size_t i = bytes; i-- > 0;)
		n = n << 8 | parts->code[parts->at + i];
	parts->at += bytes;
	if (bytes && bytes < 8 && n >> (8 * bytes - 1))
		n |= ~UINT64_C(0) << 8 * bytes;
	*number = (int64_t)n;
	return true;
}

/* A byte after the legacy prefixes. */
static bool take_prefixes(struct parts *parts, uint8_t *byte)
{
	while (take(parts, byte)) {
		switch (*byte) {
		case 0x66:
			parts->narrow = true;
			continue;
		case 0x67:
			parts->address32 = true;
			continue;
		case 0xf2:
		case 0xf3:
			parts->repeat = true;
			continue;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			continue;
		}
		return true;
	}
	return false;
}

static bool set_rex(struct parts *parts, uint8_t rex)
{
	parts->rex = true;
	parts->wide = rex & 8;
	parts->r = rex & 4 ? 8 : 0;
	parts->x = rex & 2 ? 8 : 0;
	parts->b = rex & 1 ? 8 : 0;
	return true;
}

static bool take_vex2(struct parts *parts)
{
	uint8_t one;

	if (parts->rex || parts->narrow || parts->repeat || !take(parts, &one))
		return false;
	parts->r = one & 0x80 ? 0 : 8;
	parts->map = MAP_VEX_0F;
	return take(parts, &parts->op);
}

/* The bits R, X and B are inverted. */
static void set_extension(struct parts *parts, uint8_t byte, uint8_t w)
{
	set_rex(parts, (uint8_t)(((byte ^ 0xe0) >> 5 & 7) | (w & 0x80 ? 8 : 0)));
}

static bool take_vex3(struct parts *parts)
{
	uint8_t one, two;

	if (parts->rex || parts->narrow || parts->repeat || !take(parts, &one) || !take(parts, &two))
		return false;
	set_extension(parts, one, two);
	if ((one & 0x1f) < 1 || (one & 0x1f) > 3)
		return false;
	parts->map = (uint8_t)(MAP_VEX_0F + (one & 0x1f) - 1);
	return take(parts, &parts->op);
}

static bool take_evex(struct parts *parts)
{
	static const uint8_t maps[8] = {
		0, MAP_VEX_0F, MAP_VEX_0F38, MAP_VEX_0F3A, 0, MAP_EVEX_FP16, MAP_EVEX_FP16, 0
	};
	uint8_t one, two, three;

	if (parts->rex || parts->narrow || parts->repeat || !take(parts, &one) || !take(parts, &two) ||
	    !take(parts, &three))
		return false;
	set_extension(parts, one, two);
	parts->map = maps[one & 7];
	return parts->map && !(one & 8) && two & 4 && take(parts, &parts->op);
}

static bool take_opcode(struct parts *parts)
{
	uint8_t byte;

	if (!take_prefixes(parts, &byte))
		return false;
	if ((byte & 0xf0) == 0x40 && (!set_rex(parts, byte) || !take(parts, &byte)))
		return false;
	switch (byte) {
	case 0xc5:
		return take_vex2(parts);
	case 0xc4:
		return take_vex3(parts);
	case 0x62:
		return take_evex(parts);
	case 0x0f:
		if (!take(parts, &byte))
			return false;
		parts->map = MAP_0F;
		if (byte == 0x38 || byte == 0x3a) {
			parts->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			return take(parts, &parts->op);
		}
	}
	parts->op = byte;
	return true;
}

static bool wants_modrm(const struct parts *parts)
{
	switch (parts->map) {
	case MAP_1:
		return is_in(one_modrm, parts->op);
	case MAP_0F:
		return !is_in(two_plain, parts->op);
	case MAP_VEX_0F:
		return parts->op != 0x77; /* vzeroupper */
	}
	return true;
}

static bool is_bad(const struct parts *parts)
{
	return (parts->map == MAP_1 && is_in(one_bad, parts->op)) ||
	       (parts->map == MAP_0F && (is_in(two_bad, parts->op) || (parts->op == 0xb8 && !parts->repeat)));
}

/* AMD's first byte of those instructions is that of pop, which has 0 there. */
static bool is_xop(const struct parts *parts)
{
	return parts->map == MAP_1 && parts->op == 0x8f && parts->reg & 7;
}

static bool take_operand(struct parts *parts)
{
	uint8_t base = parts->rm & 7, sib;
	size_t bytes = parts->mod == 1 ? 1 : parts->mod == 2 ? 4 : 0;
	int64_t disp;

	parts->base = parts->rm;
	if (base == 4) {
		if (!take(parts, &sib))
			return false;
		base = sib & 7;
		parts->base = (sib & 0x38) == 0x20 && !parts->x ? base | parts->b : NONE;
		if (base == 5 && parts->mod == 0) {
			parts->base = NONE;
			bytes = 4;
		}
	} else if (base == 5 && parts->mod == 0) {
		parts->base = NONE;
		parts->by_ip = true;
		bytes = 4;
	}
	if (!take_number(parts, bytes, &disp))
		return false;
	parts->disp = (int32_t)disp;
	return true;
}

static bool take_modrm(struct parts *parts)
{
	uint8_t byte;

	parts->has_modrm = true;
	parts->base = NONE;
	if (!take(parts, &byte))
		return false;
	parts->mod = byte >> 6;
	parts->reg = (byte >> 3 & 7) | parts->r;
	parts->rm = (byte & 7) | parts->b;
	if (parts->map == MAP_0F && parts->op >= 0x20 && parts->op <= 0x23)
		parts->mod = 3; /* control registers */
	return parts->mod == 3 || take_operand(parts);
}

/* Bytes of the immediate number in an instruction of the first map. */
static size_t immediate_of_one(const struct parts *parts)
{
	uint8_t op = parts->op;

	if (op >= 0xa0 && op <= 0xa3)
		return parts->address32 ? 4 : 8;
	if (op >= 0xb8 && op <= 0xbf && parts->wide)
		return 8;
	if (op == 0xc2)
		return 2;
	if (op == 0xe8 || op == 0xe9)
		return 4;
	if (op == 0xf6 || op == 0xf7)
		return parts->reg & 6 ? 0 : op == 0xf6 ? 1 : parts->narrow && !parts->wide ? 2 : 4;
	if (is_in(one_byte_immediate, op))
		return 1;
	if (is_in(one_long_immediate, op))
		return parts->narrow && !parts->wide ? 2 : 4;
	return 0;
}

static size_t immediate_bytes(const struct parts *parts)
{
	switch (parts->map) {
	case MAP_1:
		return immediate_of_one(parts);
	case MAP_0F:
		return parts->op >= 0x80 && parts->op <= 0x8f ? 4 : is_in(two_byte_immediate, parts->op);
	case MAP_VEX_0F:
		return is_in(vex_byte_immediate, parts->op);
	case MAP_0F3A:
	case MAP_VEX_0F3A:
		return 1;
	}
	return 0;
}

/* ---- effects ---- */

static bool set(struct tpc_arch_instruction *found, enum tpc_arch_effect effect, uint8_t reg, int64_t n)
{
	found->effect = (uint8_t)effect;
	found->reg = reg;
	found->n = (int32_t)n;
	return true;
}

static bool is_register(const struct parts *parts, uint8_t number)
{
	return parts->mod == 3 && parts->rm == number;
}

/* mov between registers, or from memory; lea. */
static bool of_move(const struct parts *parts, struct tpc_arch_instruction *found)
{
	uint8_t from, to;

	if (!parts->wide || (parts->op != 0x89 && parts->op != 0x8b && parts->op != 0x8d))
		return false;
	if (parts->op == 0x8d || parts->mod != 3) {
		bool lea = parts->op == 0x8d;

		if (parts->op == 0x89 || parts->base == NONE || (lea && parts->mod == 3) || parts->address32)
			return false;
		if (lea && parts->reg == SP)
			return set(found,
				   parts->base == SP   ? TPC_EFFECT_SP_ADD
				   : parts->base == FP ? TPC_EFFECT_SP_FP
						       : TPC_EFFECT_SP_REG,
				   parts->base, parts->disp);
		if (parts->reg == FP && parts->base == SP)
			return set(found, lea ? TPC_EFFECT_FP_SP : TPC_EFFECT_FP_LOAD, FP, parts->disp);
		return !lea && parts->base == FP && parts->reg != FP && parts->reg != SP &&
		       set(found, TPC_EFFECT_REG_LOAD, parts->reg, parts->disp);
	}
	from = parts->op == 0x89 ? parts->reg : parts->rm;
	to = parts->op == 0x89 ? parts->rm : parts->reg;
	if (to == SP)
		return set(found, from == FP ? TPC_EFFECT_SP_FP : TPC_EFFECT_SP_REG, from, 0);
	return to == FP && from == SP && set(found, TPC_EFFECT_FP_SP, FP, 0);
}

/* add and sub of a number, push and pop, leave. */
static bool of_stack(const struct parts *parts, struct tpc_arch_instruction *found)
{
	uint8_t op = parts->op, kind = parts->reg & 7;

	if (op >= 0x50 && op <= 0x5f)
		return parts->narrow ? set(found, TPC_EFFECT_SP_LOST, NONE, 0)
				     : set(found, op < 0x58 ? TPC_EFFECT_PUSH : TPC_EFFECT_POP, (op & 7) | parts->b, 0);
	if ((op == 0x81 || op == 0x83) && parts->wide && is_register(parts, SP) && (kind == 0 || kind == 5))
		return set(found, TPC_EFFECT_SP_ADD, NONE, kind ? -parts->immediate : parts->immediate);
	if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && kind == 6))
		return set(found, parts->narrow ? TPC_EFFECT_SP_LOST : TPC_EFFECT_PUSH, NONE, 0);
	if (op == 0x9d || (op == 0x8f && kind == 0))
		return set(found, parts->narrow || is_register(parts, SP) ? TPC_EFFECT_SP_LOST : TPC_EFFECT_POP,
			   op == 0x8f && parts->mod == 3 ? parts->rm : NONE, 0);
	return op == 0xc9 && set(found, TPC_EFFECT_LEAVE, NONE, 0);
}

static bool of_flow(const struct parts *parts, struct tpc_arch_instruction *found)
{
	uint8_t op = parts->op, kind = parts->reg & 7;

	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3))
		return set(found, TPC_EFFECT_JUMP_IF, NONE, parts->immediate);
	switch (op) {
	case 0xc2:
		return set(found, TPC_EFFECT_END, NONE, 0); /* no C compiler's */
	case 0xc3:
		return set(found, TPC_EFFECT_RETURN, NONE, 0);
	case 0xe8:
		return set(found, TPC_EFFECT_CALL, NONE, 0);
	case 0xe9:
	case 0xeb:
		return set(found, TPC_EFFECT_JUMP, NONE, parts->immediate);
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		return set(found, TPC_EFFECT_END, NONE, 0);
	case 0x90: /* not pause, nor xchg %r8,%rax */
		return !parts->b && !parts->repeat && set(found, TPC_EFFECT_FILLER, NONE, 0);
	}
	if (op != 0xff || kind < 2 || kind > 5)
		return false;
	if (kind < 4)
		return set(found, TPC_EFFECT_CALL, NONE, 0);
	if (kind == 4 && parts->mod == 3)
		return set(found, TPC_EFFECT_JUMP_REG, NONE, 0);
	/* A pointer near the code (PLT), or an object's. Tables are indexed. */
	return set(found, kind == 4 && (parts->by_ip || parts->base != NONE) ? TPC_EFFECT_LEAVES : TPC_EFFECT_END, NONE,
		   0);
}

static bool of_two(const struct parts *parts, struct tpc_arch_instruction *found)
{
	switch (parts->op) {
	case 0x07:
	case 0x0b:
	case 0x34:
	case 0x35:
	case 0xb9:
	case 0xff:
		return set(found, TPC_EFFECT_END, NONE, 0);
	case 0x1e:
		return parts->repeat && parts->mod == 3 && parts->reg == 7 && parts->rm == 2 &&
		       set(found, TPC_EFFECT_ENTRY, NONE, 0);
	case 0x1f:
		return set(found, TPC_EFFECT_FILLER, NONE, 0);
	case 0xa0: /* push %fs */
	case 0xa8:
		return set(found, TPC_EFFECT_PUSH, NONE, 0);
	case 0xa1:
	case 0xa9:
		return set(found, TPC_EFFECT_POP, NONE, 0);
	}
	return parts->op >= 0x80 && parts->op <= 0x8f && set(found, TPC_EFFECT_JUMP_IF, NONE, parts->immediate);
}

/* ---- which general registers an instruction writes otherwise ---- */

enum { WRITES_RM = 1, WRITES_REG = 2 };

static unsigned int writes_one(const struct parts *parts)
{
	uint8_t op = parts->op, kind = parts->reg & 7;

	if (op < 0x40)
		return op >= 0x38 ? 0 : op & 2 ? WRITES_REG : WRITES_RM;
	switch (op) {
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8a:
	case 0x8b:
	case 0x8d:
		return WRITES_REG;
	case 0x86:
	case 0x87:
		return WRITES_REG | WRITES_RM;
	case 0x80:
	case 0x81:
	case 0x83:
		return kind == 7 ? 0 : WRITES_RM;
	case 0x88:
	case 0x89:
	case 0x8c:
	case 0x8f:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return WRITES_RM;
	case 0xf6:
	case 0xf7:
		return kind == 2 || kind == 3 ? WRITES_RM : 0;
	case 0xfe:
	case 0xff:
		return kind < 2 ? WRITES_RM : 0;
	}
	return 0;
}

static unsigned int writes_two(const struct parts *parts)
{
	uint8_t op = parts->op;

	if (op >= 0x40 && op <= 0x4f)
		return WRITES_REG; /* cmov */
	if (op >= 0x90 && op <= 0x9f)
		return WRITES_RM; /* set */
	switch (op) {
	case 0x02:
	case 0x03:
	case 0x2c:
	case 0x2d:
	case 0x50:
	case 0xaf:
	case 0xb2:
	case 0xb4:
	case 0xb5:
	case 0xb6:
	case 0xb7:
	case 0xb8:
	case 0xbc:
	case 0xbd:
	case 0xbe:
	case 0xbf:
	case 0xc5:
	case 0xd7:
		return WRITES_REG;
	case 0x20:
	case 0x21:
	case 0xa4:
	case 0xa5:
	case 0xab:
	case 0xac:
	case 0xad:
	case 0xb0:
	case 0xb1:
	case 0xb3:
	case 0xba:
	case 0xbb:
	case 0xc7:
	case 0x00:
	case 0x01:
	case 0xae:
		return WRITES_RM;
	case 0x1e: /* rdssp */
		return parts->repeat ? WRITES_RM : 0;
	case 0x7e:
		return parts->repeat ? 0 : WRITES_RM; /* movq to a vector register, movd to a general one */
	case 0xc0:
	case 0xc1:
		return WRITES_REG | WRITES_RM;
	}
	return 0;
}

/* Of instructions with VEX, some write a register that is in neither place: all that have general registers are taken so. */
static unsigned int writes(const struct parts *parts)
{
	switch (parts->map) {
	case MAP_1:
		return writes_one(parts);
	case MAP_0F:
		return writes_two(parts);
	case MAP_0F38:
		return parts->op >= 0xf0 && parts->op <= 0xf6 ? WRITES_REG : 0;
	case MAP_0F3A:
		return parts->op >= 0x14 && parts->op <= 0x17 ? WRITES_RM : 0;
	case MAP_VEX_0F:
		return parts->op == 0x7e ? WRITES_RM
		       : parts->op == 0x2c || parts->op == 0x2d || parts->op == 0x50 || parts->op == 0x93 ||
				       parts->op == 0xc5 || parts->op == 0xd7
			       ? WRITES_REG
			       : 0;
	case MAP_VEX_0F38:
		return parts->op >= 0xf0 ? WRITES_REG | WRITES_RM : 0;
	case MAP_VEX_0F3A:
		return parts->op == 0xf0 ? WRITES_REG : parts->op >= 0x14 && parts->op <= 0x17 ? WRITES_RM : 0;
	}
	return 0;
}

/* A byte register below 8 without REX is %ah to %bh, not %spl to %dil: taken as one, it is but a needless caution. */
static bool writes_to(const struct parts *parts, uint8_t number)
{
	unsigned int where = parts->has_modrm ? writes(parts) : 0;
	uint8_t op = parts->op, here = (op & 7) | parts->b;

	if (parts->map == MAP_1 && ((op >= 0x91 && op <= 0x97) || (op >= 0xb0 && op <= 0xbf)))
		return here == number;
	if (parts->map == MAP_0F && op >= 0xc8 && op <= 0xcf)
		return here == number;
	return (where & WRITES_REG && parts->reg == number) || (where & WRITES_RM && is_register(parts, number));
}

static void find_effect(const struct parts *parts, struct tpc_arch_instruction *found)
{
	if (parts->map == MAP_1 && (of_move(parts, found) || of_stack(parts, found) || of_flow(parts, found)))
		return;
	if (parts->map == MAP_0F && of_two(parts, found))
		return;
	if (writes_to(parts, SP))
		set(found, TPC_EFFECT_SP_LOST, NONE, 0);
	else if (writes_to(parts, FP))
		set(found, TPC_EFFECT_FP_LOST, NONE, 0);
}

bool tpc_arch_instruction_read(const uint8_t *code, size_t size, struct tpc_arch_instruction *found)
{
	struct parts parts = { .code = code, .size = size < LENGTH_MAX ? size : LENGTH_MAX };

	*found = (struct tpc_arch_instruction){ .reg = NONE };
	if (!take_opcode(&parts) || is_bad(&parts) || (wants_modrm(&parts) && !take_modrm(&parts)) || is_xop(&parts) ||
	    !take_number(&parts, immediate_bytes(&parts), &parts.immediate))
		return false;
	found->length = (uint8_t)parts.at;
	find_effect(&parts, found);
	return true;
}
