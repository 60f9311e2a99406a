/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdbool.h>

/*
 * Unicode standard, table 3-7 (well-formed UTF-8 byte sequences): only the second byte's range depends on the first
 * byte.
 */
static bool is_second(unsigned char first, unsigned char second)
{
	unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

int tpa_utf8_bytes(const unsigned char *text, size_t size)
{
	unsigned char first;
	int length;

	if (!size)
		return -1;
	first = text[0];
	if (first < 0x80)
		return 1;
	length = first >= 0xc2 && first < 0xe0	 ? 2
		 : first >= 0xe0 && first < 0xf0 ? 3
		 : first >= 0xf0 && first < 0xf5 ? 4
						 : 0;
	for (int i = 1; i < length; i++) {
		if ((size_t)i >= size)
			return -1;
		if (i == 1 ? !is_second(first, text[1]) : (text[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}
