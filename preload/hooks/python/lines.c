/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/lines.h"

#define NO_LINE (-128) /* a line delta of 3.10: no line */

/* Codes of an entry of the location table: which bytes follow, and how far the line is from that of the last entry. */
enum {
	LOCATION_ONE_LINE = 10, /* 10 to 12: 0 to 2 lines further */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* The begin of an entry, and the sums of the entries before it. All zero for the first entry. */
struct entry {
	uint32_t at;	 /* bytes into the table */
	uint32_t passed; /* instructions before it: units; bytes in tables before 3.11 */
	int32_t line;	 /* relative to the code object's first line */
};

/*
 * Each of these starts at *entry, which is not behind the instruction, and sets it to the entry that contains the
 * instruction.
 */

/* 3.9, Objects/lnotab_notes.txt: pairs of bytes to add to the address and, signed, to the line. */
static int32_t in_lnotab(const struct tpc_lines *lines, int64_t unit, struct entry *entry)
{
	int64_t at = unit * 2;

	for (; entry->at + 1 < lines->length; entry->at += 2) {
		uint32_t address = entry->passed + lines->bytes[entry->at];

		if (address > at)
			break;
		entry->passed = address;
		entry->line += (int8_t)lines->bytes[entry->at + 1];
	}
	return lines->first + entry->line;
}

/* 3.10: pairs of a range's length and the difference of its line to that of the range before. */
static int32_t in_pairs(const struct tpc_lines *lines, int64_t unit, struct entry *entry)
{
	int64_t at = unit * 2;

	for (; entry->at + 1 < lines->length; entry->at += 2) {
		int8_t more = (int8_t)lines->bytes[entry->at + 1];
		uint32_t end = entry->passed + lines->bytes[entry->at];
		int32_t line = entry->line + (more == NO_LINE ? 0 : more);

		if (at < end)
			return more == NO_LINE ? 0 : lines->first + line;
		entry->passed = end;
		entry->line = line;
	}
	return 0;
}

/* Six bits a byte, low ones first; 0x40: more follow; the lowest bit of all is the sign. */
static int32_t signed_number(const uint8_t *bytes, const uint8_t *end)
{
	uint32_t value = 0, shift = 0;

	while (bytes < end) {
		uint8_t byte = *bytes++;

		value |= shift < 32 ? (uint32_t)(byte & 0x3f) << shift : 0;
		shift += 6;
		if (!(byte & 0x40))
			break;
	}
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* 3.11, Objects/locations.md. Only the first byte of an entry has its highest bit set. */
static int32_t in_locations(const struct tpc_lines *lines, int64_t unit, struct entry *entry)
{
	const uint8_t *at = lines->bytes + entry->at, *end = lines->bytes + lines->length;
	int64_t passed = entry->passed;
	int32_t line = entry->line;

	while (at < end) {
		const uint8_t *begin = at++;
		unsigned code = *begin >> 3 & 15;
		int64_t covered = passed + (*begin & 7) + 1;
		int32_t more = 0;

		if (code == LOCATION_NO_COLUMNS || code == LOCATION_LONG)
			more = signed_number(at, end);
		else if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS)
			more = (int32_t)code - LOCATION_ONE_LINE;
		if (unit < covered) {
			*entry = (struct entry){ (uint32_t)(begin - lines->bytes), (uint32_t)passed, line };
			return code == LOCATION_NONE ? 0 : lines->first + line + more;
		}
		passed = covered;
		line += more;
		while (at < end && !(*at & 0x80))
			at++;
	}
	return 0;
}

static int32_t find_from(const struct tpc_lines *lines, int64_t unit, struct entry *entry)
{
	int32_t line = 0;

	switch (lines->kind) {
	case TPC_LINES_LNOTAB:
		line = in_lnotab(lines, unit, entry);
		break;
	case TPC_LINES_PAIRS:
		line = in_pairs(lines, unit, entry);
		break;
	case TPC_LINES_LOCATIONS:
		line = in_locations(lines, unit, entry);
		break;
	}
	return line > 0 ? line : 0;
}

/* ---- where it was last looked ---- */

/*
 * A module's code is executed from start to end, and its table is as long: the entry found last is close to the next
 * one. Any thread may read and write this: two words belong together if `check` matches, which depends on the code's
 * unique number.
 */
#define REMEMBERED 256u

static struct {
	tpc_shared_u64 entry, check;
} remembered[REMEMBERED];

#define AT_BITS 24
#define PASSED_BITS 21
#define LINE_BITS 19

static uint64_t check_of(uint32_t code, uint64_t packed)
{
	return packed ^ code * UINT64_C(0x9e3779b97f4a7c15);
}

static void remember(uint32_t code, const struct entry *entry)
{
	uint64_t line = (uint64_t)(entry->line + (1 << (LINE_BITS - 1))), packed;

	if (entry->at >> AT_BITS || entry->passed >> PASSED_BITS || line >> LINE_BITS)
		return;
	packed = ((uint64_t)entry->at << PASSED_BITS | entry->passed) << LINE_BITS | line;
	tpc_store(&remembered[code % REMEMBERED].entry, packed);
	tpc_store(&remembered[code % REMEMBERED].check, check_of(code, packed));
}

static struct entry recall(uint32_t code)
{
	uint64_t packed = tpc_load(&remembered[code % REMEMBERED].entry);

	if (tpc_load(&remembered[code % REMEMBERED].check) != check_of(code, packed))
		return (struct entry){ 0, 0, 0 };
	return (struct entry){
		.at = (uint32_t)(packed >> (PASSED_BITS + LINE_BITS)),
		.passed = (uint32_t)(packed >> LINE_BITS) & ((1u << PASSED_BITS) - 1),
		.line = (int32_t)(packed & ((1u << LINE_BITS) - 1)) - (1 << (LINE_BITS - 1)),
	};
}

int32_t tpc_line_find(const struct tpc_lines *lines, uint32_t code, int64_t unit)
{
	struct entry entry = recall(code);
	int64_t at = lines->kind == TPC_LINES_LOCATIONS ? unit : unit * 2;
	int32_t line;

	if (unit < 0)
		return lines->first;
	if (entry.passed > at)
		entry = (struct entry){ 0, 0, 0 };
	line = find_from(lines, unit, &entry);
	remember(code, &entry);
	return line;
}

void tpc_lines_forget(void)
{
	memset(remembered, 0, sizeof(remembered));
}
