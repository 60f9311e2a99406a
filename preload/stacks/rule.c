/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/rule.h"

#include "stacks/cfi.h"
#include "stacks/dwarf.h"

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

struct cie {
	struct tpc_cursor instructions;
	bool has_length; /* augmentation 'z': FDEs carry augmentation data */
	bool is_signal;
};

static bool read_augmentation(struct tpc_cursor *in, const char *letters, struct tpc_cfi *cfi, struct cie *cie)
{
	uint64_t length;
	struct tpc_cursor data;

	if (letters[0] == 0)
		return true;
	if (letters[0] != 'z')
		return false;
	cie->has_length = true;
	length = tpc_read_uleb(in);
	data = (struct tpc_cursor){ in->at, in->at + length };
	in->at += length;
	for (const char *letter = letters + 1; *letter; letter++) {
		uint8_t encoding;

		switch (*letter) {
		case 'R':
			cfi->pointer_encoding = (uint8_t)tpc_read_fixed(&data, 1);
			break;
		case 'P':
			encoding = (uint8_t)tpc_read_fixed(&data, 1);
			tpc_read_pointer(&data, encoding, 0);
			break;
		case 'L':
			tpc_read_fixed(&data, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* arm64's */
			break;
		default:
			return true; /* unknown data follows, but its length was used to skip it */
		}
	}
	return true;
}

/* The content of a CIE or FDE, by its length. 64-bit DWARF does not occur in .eh_frame here. */
static struct tpc_cursor content(const uint8_t *record)
{
	uint32_t length;

	memcpy(&length, record, sizeof(length));
	if (length == 0xffffffff)
		length = 0;
	return (struct tpc_cursor){ record + 4, record + 4 + length };
}

static bool read_cie(const uint8_t *record, struct tpc_cfi *cfi, struct cie *cie)
{
	struct tpc_cursor in = content(record);
	const char *letters;
	uint8_t version;

	if (tpc_read_fixed(&in, 4) != 0) /* a CIE's id in .eh_frame */
		return false;
	version = (uint8_t)tpc_read_fixed(&in, 1);
	letters = (const char *)in.at;
	in.at += strlen(letters) + 1;
	if (version != 1 && version != 3)
		return false;
	cfi->code_align = tpc_read_uleb(&in);
	cfi->data_align = tpc_read_sleb(&in);
	cfi->ra_register = version == 1 ? tpc_read_fixed(&in, 1) : tpc_read_uleb(&in);
	if (!read_augmentation(&in, letters, cfi, cie))
		return false;
	cie->instructions = in;
	return true;
}

/* The code that an FDE covers; leaves `in` at its instructions. Empty: it can't be read. */
static struct tpc_range read_fde(struct tpc_cursor *in, struct tpc_cfi *cfi, struct cie *cie)
{
	const uint8_t *here = in->at;
	uint64_t back = tpc_read_fixed(in, 4);
	struct tpc_range code;

	if (back == 0 || !read_cie(here - back, cfi, cie))
		return (struct tpc_range){ 0, 0 };
	code.low = tpc_read_pointer(in, cfi->pointer_encoding, 0);
	code.high = code.low + tpc_read_pointer(in, cfi->pointer_encoding & 0x0f, 0);
	if (cie->has_length) {
		uint64_t length = tpc_read_uleb(in);

		in->at += length;
	}
	return code;
}

static bool run(const uint8_t *fde, uintptr_t pc, struct tpc_cfi *cfi, struct cie *cie)
{
	struct tpc_cursor in = content(fde);
	struct tpc_range code = read_fde(&in, cfi, cie);

	if (pc - code.low >= code.high - code.low)
		return false;
	cfi->location = code.low;
	if (!tpc_cfi_run(cfi, cie->instructions, UINTPTR_MAX))
		return false;
	cfi->location = code.low;
	cfi->initial = cfi->row;
	if (!tpc_cfi_run(cfi, in, pc))
		return false;
	if (cfi->holds.high > code.high)
		cfi->holds.high = code.high;
	return true;
}

/* An expression may depend on the PC: in a PLT entry, on how far it is. */
static bool has_expressions(const struct tpc_cfi_row *row)
{
	return row->cfa_is_expression || row->kept.kind == TPC_SAVE_EXPRESSION;
}

static struct tpc_rule find(const void *eh_frame_hdr, uintptr_t pc, bool exact, uint64_t kept, struct tpc_range *holds)
{
	struct tpc_cfi cfi = { .pointer_encoding = TPC_PE_ABSPTR, .kept_register = kept };
	struct cie cie = { .is_signal = false };
	uintptr_t at = exact ? pc : pc - 1;
	const uint8_t *fde = find_fde(eh_frame_hdr, at);

	*holds = (struct tpc_range){ 0, 0 };
	/* A signal trampoline is returned to, not called: its FDE covers the return address itself. */
	if (!fde || !run(fde, at, &cfi, &cie)) /* it ran if the FDE covers the code */
		return (struct tpc_rule){ .kind = cfi.location ? TPC_RULE_UNKNOWN : TPC_RULE_NONE };
	if (cie.is_signal)
		return (struct tpc_rule){ .kind = TPC_RULE_SIGNAL };
	if (!has_expressions(&cfi.row))
		*holds = cfi.holds;
	return tpc_cfi_rule(&cfi.row, at);
}

struct tpc_rule tpc_rule_find(const void *eh_frame_hdr, uintptr_t pc, bool exact, struct tpc_range *holds)
{
	return find(eh_frame_hdr, pc, exact, TPC_REG_FP, holds);
}

struct tpc_rule tpc_rule_find_for(const void *eh_frame_hdr, uintptr_t pc, bool exact, unsigned int reg)
{
	struct tpc_range holds;

	return find(eh_frame_hdr, pc, exact, reg, &holds);
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

static struct tpc_range code_of(const uint8_t *fde)
{
	struct tpc_cfi cfi = { .pointer_encoding = TPC_PE_ABSPTR };
	struct tpc_cursor in = content(fde);
	struct cie cie = { .is_signal = false };

	return read_fde(&in, &cfi, &cie);
}

/*
 * A called function begins with nothing but its return address on the stack; a piece that is jumped to begins with a
 * frame.
 */
static bool begins_within(const uint8_t *fde, uintptr_t pc)
{
	struct tpc_cfi cfi = { .pointer_encoding = TPC_PE_ABSPTR };
	struct cie cie = { .is_signal = false };
	struct tpc_rule rule;

	if (!run(fde, pc, &cfi, &cie))
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
