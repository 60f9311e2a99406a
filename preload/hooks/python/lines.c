/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/lines.h"

#define NO_LINE (-128) /* a line delta of 3.10's */

/* Codes of an entry of the location table: which bytes follow, and how far the line is from the last entry's. */
enum {
	LOCATION_ONE_LINE = 10, /* 10 to 12: 0 to 2 lines further on */
	LOCATION_NO_COLUMNS = 13,
	LOCATION_LONG = 14,
	LOCATION_NONE = 15,
};

/* 3.9, Objects/lnotab_notes.txt: pairs of bytes to add to the address and, signed, to the line. */
static int32_t in_lnotab(const struct tp_lines *lines, int64_t unit)
{
	int64_t at = unit * 2, address = 0;
	int32_t line = lines->first;

	for (size_t i = 0; i + 1 < lines->length; i += 2) {
		address += lines->bytes[i];
		if (address > at)
			break;
		line += (int8_t)lines->bytes[i + 1];
	}
	return line;
}

/* 3.10: pairs of a range's length and what its line is more than that of the range before. */
static int32_t in_pairs(const struct tp_lines *lines, int64_t unit)
{
	int64_t at = unit * 2, end = 0;
	int32_t line = lines->first;

	for (size_t i = 0; i + 1 < lines->length; i += 2) {
		int8_t more = (int8_t)lines->bytes[i + 1];

		end += lines->bytes[i];
		line += more == NO_LINE ? 0 : more;
		if (at < end)
			return more == NO_LINE ? 0 : line;
	}
	return 0;
}

/* Six bits a byte, low ones first; 0x40: there are more; the lowest bit of all is the sign. */
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

/* 3.11, Objects/locations.md. An entry's first byte is the only one that has its highest bit set. */
static int32_t in_locations(const struct tp_lines *lines, int64_t unit)
{
	const uint8_t *at = lines->bytes, *end = at + lines->length;
	int64_t covered = 0;
	int32_t line = lines->first;

	while (at < end) {
		unsigned code = *at >> 3 & 15;

		covered += (*at & 7) + 1;
		at++;
		if (code == LOCATION_NO_COLUMNS || code == LOCATION_LONG)
			line += signed_number(at, end);
		else if (code >= LOCATION_ONE_LINE && code < LOCATION_NO_COLUMNS)
			line += (int32_t)code - LOCATION_ONE_LINE;
		if (unit < covered)
			return code == LOCATION_NONE ? 0 : line;
		while (at < end && !(*at & 0x80))
			at++;
	}
	return 0;
}

int32_t tp_line_find(const struct tp_lines *lines, int64_t unit)
{
	int32_t line = 0;

	if (unit < 0)
		return lines->first;
	switch (lines->kind) {
	case TP_LINES_LNOTAB:
		line = in_lnotab(lines, unit);
		break;
	case TP_LINES_PAIRS:
		line = in_pairs(lines, unit);
		break;
	case TP_LINES_LOCATIONS:
		line = in_locations(lines, unit);
		break;
	}
	return line > 0 ? line : 0;
}
