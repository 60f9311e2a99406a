/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64: what must be known of an instruction to move it. Zydis decodes it. Its library is loaded when the first function
 * is hooked in its code, and only then: Debian has no static one, and other programs are not to be given 640 KB more.
 */
#ifndef TPROF_ARCH_X86_64_CODE_DECODE_H
#define TPROF_ARCH_X86_64_CODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TPC_CODE_INSTRUCTION_MAX 15u /* bytes */

enum tpc_code_kind {
	TPC_CODE_PLAIN,
	TPC_CODE_ENDBR,	       /* endbr64 */
	TPC_CODE_JUMP,	       /* jmp, by an offset */
	TPC_CODE_JUMP_IF,      /* jcc */
	TPC_CODE_CALL,	       /* call, by an offset */
	TPC_CODE_CALL_POINTER, /* call, by a register or by memory */
	TPC_CODE_JUMP_SHORT,   /* jrcxz, loop: no longer form exists */
	TPC_CODE_ODD,	       /* int3, which may be a debugger's; xbegin; addresses of 32 bits */
};

struct tpc_code_instruction {
	uint8_t length, kind; /* bytes; enum tpc_code_kind */
	uint8_t relative_at;  /* where its offset from the next instruction lies, of a jump or of an operand; 0: none */
	uint8_t relative_bytes; /* 1 or 4 */
	uint8_t modrm_at;	/* of a call by a pointer */
	bool by_stack_pointer;	/* %rsp tells where an operand lies, or is one */
	bool filler;		/* what stands between functions: nop, int3, zeros */
};

/* ZydisDecoderDecodeInstruction() and its decoder for 64-bit code. */
struct tpc_code_decoder {
	uint64_t state[16];
	uint32_t (*decode)(const void *decoder, void *context, const void *bytes, uintptr_t length, void *instruction);
};

/*
 * `find` returns the address of Zydis' function of that name (dlsym), NULL if there is none. False: it is not the Zydis that
 * this was built for.
 */
bool tpc_code_decoder_set(struct tpc_code_decoder *decoder, void *(*find)(void *library, const char *name),
			  void *library);

/* The SONAME of that library. */
extern const char tpc_code_decoder_library[];

/* Decodes the instruction at the start of `bytes`. False: there is none of at most `length` bytes. */
bool tpc_code_decode(const struct tpc_code_decoder *decoder, const uint8_t *bytes, size_t length,
		     struct tpc_code_instruction *instruction);

#endif
