/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64: an inline hook. The first instructions of a function are moved to a detour near by, and a jump to the detour takes
 * their place:
 *
 *   function:  endbr64, if it was there      detour:  mov %r11, -16(%rsp)	TPC_CODE_KEPT of trampoline.S takes it from there
 *              jmp detour                             jmp *stub
 *   rest:      ...                           direct:  endbr64; mov -16(%rsp), %r11
 *                                            moved:   endbr64; the instructions; jmp rest
 *
 * All pure: nothing of the program is read or written but what is passed.
 */
#ifndef TPROF_ARCH_X86_64_CODE_MOVE_H
#define TPROF_ARCH_X86_64_CODE_MOVE_H

#include "arch/x86_64/code_decode.h"

struct tpc_code_function {
	const uint8_t *bytes; /* a copy of its code, or the code itself */
	size_t size;	      /* bytes that are the function's */
	size_t room;	      /* bytes up to the next symbol. Those behind `size` are used if they are filler */
	uintptr_t at;	      /* its address */
};

enum tpc_code_refusal {
	TPC_CODE_GOOD,
	TPC_CODE_TOO_SHORT,   /* shorter than a jump */
	TPC_CODE_UNKNOWN,     /* contains what is no instruction, so jumps in it may be missed */
	TPC_CODE_JUMPED_INTO, /* jumps into its first instructions, or, in a loop, to its start */
	TPC_CODE_FIXED,	      /* an instruction that can't be moved */
	TPC_CODE_CALLS,	      /* a call that can't be moved: in front of others, or there are shadow stacks */
	TPC_CODE_FAR,	      /* the detour is not within 2 GiB of what it refers to */
	TPC_CODE_REFUSALS
};

/* In words, as "it is shorter than a jump". */
const char *tpc_code_refusal_text(enum tpc_code_refusal refusal);

#define TPC_CODE_MOVED_MAX 128u /* bytes of a detour */
#define TPC_CODE_DIRECT_BYTES 9u
#define TPC_CODE_MOVED_AT 20u /* offset in the detour of the moved instructions */

struct tpc_code_place {	  /* where an instruction, and the state that it finds, lies in the function */
	uint8_t detour;	  /* offset in the detour, from which on it is so */
	uint8_t function; /* in the function; TPC_CODE_NOWHERE: a return address was pushed, the call not made */
};

#define TPC_CODE_NOWHERE 255u
#define TPC_CODE_PLACES 12u

struct tpc_code_detour {
	uint8_t code[TPC_CODE_MOVED_MAX];
	uint8_t bytes;	     /* used */
	uint8_t patch_at;    /* what is replaced in the function: offset, */
	uint8_t patch_bytes; /* number of bytes, >= 5 */
	uint8_t patch[32];   /* and by what */
	uint8_t place_count;
	struct tpc_code_place places[TPC_CODE_PLACES];
};

/*
 * Makes the detour of a function, to be written to address `to`. `stub`: the address that it jumps to, by a pointer at its
 * end. `may_push`: return addresses may be pushed, as there are no shadow stacks. Else than TPC_CODE_GOOD, *detour is
 * unspecified.
 */
enum tpc_code_refusal tpc_code_move(const struct tpc_code_decoder *decoder, const struct tpc_code_function *function,
				    uintptr_t to, uintptr_t stub, bool may_push, struct tpc_code_detour *detour);

/* Does the function's code, of at least 9 readable bytes, begin with the jump to that detour? */
bool tpc_code_is_patched(const uint8_t *function, uintptr_t detour);

struct tpc_code_span {
	uintptr_t low,
		high; /* replaced bytes: a jump to `low` is harmless, one to what is above it, below `high`, is not */
	bool jumped_into;
};

/*
 * Marks the spans, which are sorted and do not overlap, that a jump or call with a 32-bit offset in `code`, loaded at `at`,
 * leads into.
 */
void tpc_code_find_jumps(const struct tpc_code_decoder *decoder, const uint8_t *code, size_t bytes, uintptr_t at,
			 struct tpc_code_span *spans, size_t count);

#endif
