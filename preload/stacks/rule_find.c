/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/rule_find.h"

/* .eh_frame_hdr as ld writes it: version 1, with a table of (start, FDE) pairs of 4 bytes each, relative to the header. */
struct header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
};

struct entry {
	int32_t start, fde;
};

/* The entries of the table; *count is 0 if it has another format. */
static const struct entry *entries_of(const void *eh_frame_hdr, uint64_t *count)
{
	const struct header *header = eh_frame_hdr;
	struct tpc_cursor in = { (const uint8_t *)(header + 1), (const uint8_t *)eh_frame_hdr + 64 };
	uintptr_t base = (uintptr_t)eh_frame_hdr;

	*count = 0;
	if (header->version != 1 || header->count_encoding == TPC_PE_OMIT ||
	    header->table_encoding != (TPC_PE_DATAREL | TPC_PE_SDATA4))
		return NULL;
	tpc_read_pointer(&in, header->frame_encoding, base);
	*count = tpc_read_pointer(&in, header->count_encoding, base);
	return (const struct entry *)in.at;
}

static const uint8_t *find_fde(const void *eh_frame_hdr, uintptr_t pc)
{
	uintptr_t base = (uintptr_t)eh_frame_hdr;
	uint64_t low = 0, high;
	const struct entry *table = entries_of(eh_frame_hdr, &high);

	while (low < high) { /* the last entry that starts at or before pc */
		uint64_t middle = (low + high) / 2;

		if (base + (uintptr_t)(intptr_t)table[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (const uint8_t *)base + table[low - 1].fde : NULL;
}

static bool run(const uint8_t *record, const struct tpc_debug_section *section, uintptr_t pc, struct tpc_cfi *cfi,
		struct tpc_fde *fde)
{
	if (!tpc_fde_read(record, section, cfi, fde) || !tpc_range_holds(fde->code, pc))
		return false;
	cfi->location = fde->code.low;
	if (!tpc_cfi_run(cfi, fde->common, UINTPTR_MAX))
		return false;
	cfi->location = fde->code.low;
	cfi->initial = cfi->row;
	if (!tpc_cfi_run(cfi, fde->specific, pc))
		return false;
	if (cfi->holds.high > fde->code.high)
		cfi->holds.high = fde->code.high;
	return true;
}

/* An expression may depend on the PC: in a PLT entry, on how far it is. */
static bool has_expressions(const struct tpc_cfi_row *row)
{
	return row->cfa_is_expression || row->kept.kind == TPC_SAVE_EXPRESSION;
}

/* By an FDE of `section`, or if that is NULL, of .eh_frame; `at`: an instruction. */
static struct tpc_rule by_fde(const uint8_t *record, const struct tpc_debug_section *section, uintptr_t at,
			      unsigned int reg, struct tpc_range *holds)
{
	struct tpc_cfi cfi = { .kept_register = reg };
	struct tpc_fde fde = { .is_signal = false };

	*holds = (struct tpc_range){ 0, 0 };
	if (!record || !run(record, section, at, &cfi, &fde)) /* it ran if the FDE covers the code */
		return (struct tpc_rule){ .kind = cfi.location ? TPC_RULE_UNKNOWN : TPC_RULE_NONE };
	if (fde.is_signal)
		return (struct tpc_rule){ .kind = TPC_RULE_SIGNAL };
	if (!has_expressions(&cfi.row))
		*holds = cfi.holds;
	return tpc_cfi_rule(&cfi.row, at);
}

/* A signal trampoline is returned to, not called: its FDE covers the return address itself. */
static uintptr_t instruction_at(uintptr_t pc, bool exact)
{
	return exact ? pc : pc - 1;
}

struct tpc_rule tpc_rule_find(const void *eh_frame_hdr, uintptr_t pc, bool exact, unsigned int reg,
			      struct tpc_range *holds)
{
	uintptr_t at = instruction_at(pc, exact);

	return by_fde(find_fde(eh_frame_hdr, at), NULL, at, reg, holds);
}

struct tpc_rule tpc_rule_find_debug(const struct tpc_debug_frame *tables, uintptr_t pc, bool exact, unsigned int reg,
				    struct tpc_range *holds)
{
	uintptr_t at = instruction_at(pc, exact);

	return by_fde(tpc_debug_frame_find(tables, at), &tables->section, at, reg, holds);
}

/* ---- functions in pieces ---- */

/* The FDE after another one in .eh_frame. NULL: that was the last. */
static const uint8_t *next_fde(const void *eh_frame_hdr, const uint8_t *fde)
{
	uint64_t count;
	const struct entry *table = entries_of(eh_frame_hdr, &count);
	int64_t at = fde - (const uint8_t *)eh_frame_hdr, next = INT64_MAX;

	for (uint64_t i = 0; i < count; i++) {
		if (table[i].fde > at && table[i].fde < next)
			next = table[i].fde;
	}
	return next < INT64_MAX ? (const uint8_t *)eh_frame_hdr + next : NULL;
}

static struct tpc_range code_of(const uint8_t *record)
{
	struct tpc_cfi cfi = { .location = 0 };
	struct tpc_fde fde;

	return tpc_fde_read(record, NULL, &cfi, &fde) ? fde.code : (struct tpc_range){ 0, 0 };
}

/*
 * A called function begins with nothing but its return address on the stack; a piece that is jumped to begins with a
 * frame.
 */
static bool begins_within(const uint8_t *record, uintptr_t pc)
{
	struct tpc_cfi cfi = { .kept_register = TPC_REG_FP };
	struct tpc_fde fde;
	struct tpc_rule rule;

	if (!run(record, NULL, pc, &cfi, &fde))
		return false;
	rule = tpc_cfi_rule(&cfi.row, pc);
	return rule.kind == TPC_RULE_FP || (rule.kind == TPC_RULE_SP && rule.cfa > 8);
}

unsigned int tpc_rule_pieces(const void *eh_frame_hdr, uintptr_t start, struct tpc_range *pieces, unsigned int most)
{
	const uint8_t *fde = find_fde(eh_frame_hdr, start);
	struct tpc_range code = fde ? code_of(fde) : (struct tpc_range){ 0, 0 };
	unsigned int count = 0;

	if (code.low != start)
		return 0;
	while (count < most && code.high > code.low) {
		pieces[count++] = code;
		fde = next_fde(eh_frame_hdr, fde);
		if (!fde)
			break;
		code = code_of(fde);
		if (!begins_within(fde, code.low))
			break;
	}
	return count;
}
