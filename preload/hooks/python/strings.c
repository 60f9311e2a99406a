/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/strings.h"

#include "hooks/python/codes.h"

#define LENGTH_MAX 65536u /* the longest name or path that is believed */

/* The bit field `state`: two bits of interned, three of kind (the width), then compact and ascii. */
bool tpc_string_read(struct tpc_reader *reader, uintptr_t object, struct tpc_string *string)
{
	uint32_t state;

	if (!object)
		return false;
	string->length = tpc_read_word(reader, object + TPC_STR_LENGTH);
	state = (uint32_t)tpc_read_int(reader, object + TPC_STR_STATE);
	string->width = state >> 2 & 7;
	string->ascii = state >> 6 & 1;
	string->bytes = (const uint8_t *)object + (string->ascii ? tpc_python.str_ascii : tpc_python.str_other);
	return !reader->bad && state >> 5 & 1 && string->length < LENGTH_MAX &&
	       (string->width == 1 || string->width == 2 || string->width == 4) &&
	       tpc_may_read_all(reader, (uintptr_t)string->bytes, string->length * string->width);
}

static uint32_t character(const struct tpc_string *string, size_t i)
{
	const uint8_t *at = string->bytes + i * string->width;
	uint32_t c = at[0];

	if (string->width > 1)
		c |= (uint32_t)at[1] << 8;
	if (string->width > 2)
		c |= (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
	return c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? '?' : c;
}

size_t tpc_string_put(const struct tpc_string *string, char *to, size_t size)
{
	size_t put = 0;

	for (size_t i = 0; i < string->length; i++) {
		uint32_t c = character(string, i);
		size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

		if (put + more + 1 > size)
			break;
		to[put++] = (char)(more ? (0xff00 >> (more + 1) & 0xff) | (c >> 6 * more) : c);
		while (more-- > 0)
			to[put++] = (char)(0x80 | (c >> 6 * more & 0x3f));
	}
	return put;
}
