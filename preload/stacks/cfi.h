/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame instructions (DWARF 5, section 6.4.2), run up to one PC. */
#ifndef TPROF_STACKS_CFI_H
#define TPROF_STACKS_CFI_H

#include "stacks/dwarf.h"
#include "stacks/rule.h"

enum tp_save_kind {
	TP_SAVE_NONE,	    /* not mentioned: the same value (callee-saved) */
	TP_SAVE_OFFSET,	    /* at CFA + offset */
	TP_SAVE_EXPRESSION, /* at the address that the expression gives */
	TP_SAVE_UNDEFINED,
	TP_SAVE_OTHER, /* in a register, or a computed value */
};

struct tp_save {
	enum tp_save_kind kind;
	int64_t offset;
	struct tp_cursor expression;
};

struct tp_cfi_row {
	bool cfa_is_expression;
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct tp_cursor cfa_expression;
	struct tp_save kept, ra; /* kept: the register that was asked for */
};

struct tp_cfi {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	uint64_t kept_register; /* asked for, by who begins */
	uint8_t pointer_encoding;
	uintptr_t location;	   /* starts at the FDE's pc_begin */
	struct tp_range holds;	   /* where the result does */
	struct tp_cfi_row row;	   /* the result */
	struct tp_cfi_row initial; /* after the CIE's instructions */
};

/* Runs instructions until they are at an end (the result then holds to the end of memory, as far as they know) or their
 * location is behind `pc`. False: one is not understood. */
bool tp_cfi_run(struct tp_cfi *cfi, struct tp_cursor instructions, uintptr_t pc);

/* The rule that a row amounts to; what it says of fp is said of the register that was asked for. */
struct tp_rule tp_cfi_rule(const struct tp_cfi_row *row, uintptr_t pc);

#endif
