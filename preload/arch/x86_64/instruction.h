/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64: how long an instruction is, and what it does to the stack pointer and the frame pointer. Hooks use it, so it
 * needs no library: Zydis (arch/x86_64/code_decode.h) can't be loaded there.
 */
#ifndef TPROF_ARCH_X86_64_INSTRUCTION_H
#define TPROF_ARCH_X86_64_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tpc_arch_effect {
	TPC_EFFECT_NONE,
	TPC_EFFECT_FILLER, /* none, and may stand between functions: nop */
	TPC_EFFECT_ENTRY,  /* endbr64: a function begins, or the target of a jump by a table */
	TPC_EFFECT_END,	   /* the code does not go on, or it is unknown where: ud2, hlt, int3, a jump by a table */
	TPC_EFFECT_RETURN,
	TPC_EFFECT_LEAVES,   /* a jump to another function, by a pointer: as a return */
	TPC_EFFECT_JUMP_REG, /* a jump to another function, or by a table */
	TPC_EFFECT_CALL,
	TPC_EFFECT_JUMP,     /* by n bytes, from the next instruction */
	TPC_EFFECT_JUMP_IF,  /* the same, maybe */
	TPC_EFFECT_SP_ADD,   /* sp += n */
	TPC_EFFECT_SP_FP,    /* sp = fp + n */
	TPC_EFFECT_SP_REG,   /* sp = reg + n */
	TPC_EFFECT_SP_LOST,  /* sp = unknown */
	TPC_EFFECT_PUSH,     /* sp -= 8, store reg */
	TPC_EFFECT_POP,	     /* load reg, sp += 8 */
	TPC_EFFECT_LEAVE,    /* sp = fp, pop fp */
	TPC_EFFECT_FP_SP,    /* fp = sp + n */
	TPC_EFFECT_FP_LOAD,  /* fp = load(sp + n) */
	TPC_EFFECT_FP_LOST,  /* fp = unknown */
	TPC_EFFECT_REG_LOAD, /* reg = load(fp + n) */
};

struct tpc_arch_instruction {
	uint8_t length; /* bytes */
	uint8_t effect; /* enum tpc_arch_effect */
	uint8_t reg;	/* as instructions number it: 4 is the stack pointer, 5 the frame pointer, 16 none */
	int32_t n;
};

#define TPC_ARCH_FUNCTION_ALIGNMENT 16u /* bytes: what compilers give a function, mostly */

enum { TPC_ARCH_NUMBER_SP = 4, TPC_ARCH_NUMBER_FP = 5, TPC_ARCH_NUMBER_NONE = 16 };

/*
 * Reads the instruction at the start of `code`. False: there is none of at most `size` bytes, or none that programs
 * have. Effects on sp and fp that are none of the above are TPC_EFFECT_SP_LOST and _FP_LOST.
 */
bool tpc_arch_instruction_read(const uint8_t *code, size_t size, struct tpc_arch_instruction *found);

#endif
