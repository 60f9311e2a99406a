/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as people type them. Both halves parse them with this; it calls nothing, and uses no floating point. */
#ifndef TPROF_SIZE_H
#define TPROF_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Bits to shift by for a unit letter; -1: no unit begins with it. */
static inline int tprof_size_shift(char letter)
{
	switch (letter | 0x20) {
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	case 't':
		return 40;
	case 'p':
		return 50;
	default:
		return -1;
	}
}

/*
 * "1000000", "4096B", "512k", "8GiB", "1.5g", "512 MiB": powers of 1024, in either case. A fraction of a byte is dropped.
 * False: `text` is not a size, or the size does not fit 64 bits.
 */
static inline bool tprof_parse_size(const char *text, uint64_t *bytes)
{
	const char *at = text, *fraction_begin, *fraction_end;
	uint64_t whole = 0, fraction = 0;
	int shift;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(whole, UINT64_C(10), &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return false;
	}
	if (at == text)
		return false;
	fraction_begin = fraction_end = at;
	if (*at == '.') {
		fraction_begin = ++at;
		while (*at >= '0' && *at <= '9')
			at++;
		fraction_end = at;
	}
	while (*at == ' ')
		at++;
	shift = tprof_size_shift(*at);
	if (shift > 0) {
		at++;
		if ((at[0] | 0x20) == 'i' && (at[1] | 0x20) == 'b')
			at += 2;
	} else {
		shift = 0;
		at += (*at | 0x20) == 'b';
	}
	if (*at || whole > UINT64_MAX >> shift)
		return false;
	while (fraction_end > fraction_begin)
		fraction = (fraction + ((uint64_t)(*--fraction_end - '0') << shift)) / 10;
	return !__builtin_add_overflow(whole << shift, fraction, bytes);
}

#endif
