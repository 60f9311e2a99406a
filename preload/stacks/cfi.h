/* SPDX-License-Identifier: Apache-2.0 */
/* Runs call frame instructions (DWARF 5, section 6.4.2) up to one PC. */
#ifndef TPROF_STACKS_CFI_H
#define TPROF_STACKS_CFI_H

#include "stacks/dwarf.h"
#include "stacks/rule.h"

enum tpc_save_kind {
	TPC_SAVE_NONE,	     /* not mentioned: the same value (callee-saved) */
	TPC_SAVE_OFFSET,     /* at CFA + offset */
	TPC_SAVE_EXPRESSION, /* at the address that the expression gives */
	TPC_SAVE_UNDEFINED,
	TPC_SAVE_OTHER, /* in a register, or a computed value */
};

struct tpc_save {
	enum tpc_save_kind kind;
	int64_t offset;
	struct tpc_cursor expression;
};

struct tpc_cfi_row {
	bool cfa_is_expression;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct tpc_cursor cfa_expression;
	struct tpc_save kept, ra; /* kept: of the register that was asked for */
};

struct tpc_cfi {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	uint64_t kept_register; /* the register that is asked for */
	uint8_t pointer_encoding;
	uintptr_t bias;		    /* of absolute pointers */
	uintptr_t location;	    /* starts at the FDE's pc_begin */
	struct tpc_range holds;	    /* where the result holds */
	struct tpc_cfi_row row;	    /* the result */
	struct tpc_cfi_row initial; /* after the CIE's instructions */
};

/*
 * Runs instructions until they end (then the result holds to the end of memory, as far as they tell) or their location
 * passes `pc`. False: an instruction is not understood.
 */
bool tpc_cfi_run(struct tpc_cfi *cfi, struct tpc_cursor instructions, uintptr_t pc);

/* The rule for a row; what the row says of fp applies to the register that was asked for. */
struct tpc_rule tpc_cfi_rule(const struct tpc_cfi_row *row, uintptr_t pc);

#endif
