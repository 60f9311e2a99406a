/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads variable-length numbers (7 bits a byte, lowest first) without a bounds check. The caller keeps TPA_PADDING
 * readable bytes after the data, reads fields of at most TPA_PADDING bytes in a row, and then asks tpa_read_ok()
 * whether they were inside the data. A number of more than 64 bits moves the reader to an array of zeros outside the
 * data, so that tpa_read_ok() fails for it too.
 */
#ifndef TPROF_BASE_VARINT_H
#define TPROF_BASE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TPA_PADDING 128

/*
 * Reads an unsigned number of data that have no padding behind them, and advances *at. False: the data end in it, or it has more
 * than 64 bits.
 */
bool tpa_uvarint_within(const uint8_t **at, const uint8_t *end, uint64_t *number);

struct tpa_varint {
	uint64_t value;
	const uint8_t *next;
};

/* The slow path of tpa_uvarint(): numbers of 9 and 10 bytes, and malformed ones. */
struct tpa_varint tpa_varint_long(const uint8_t *at);

/*
 * Reads an unsigned number and advances *at. Has no branch on the length: where lengths vary, it would be
 * mispredicted.
 */
static inline uint64_t tpa_uvarint(const uint8_t **at)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	uint64_t word, stop;
	struct tpa_varint slow;

	memcpy(&word, *at, sizeof(word));
	stop = ~word & high;
	if (__builtin_expect(!stop, 0)) {
		slow = tpa_varint_long(*at);
		*at = slow.next;
		return slow.value;
	}
	*at += (__builtin_ctzll(stop) + 1) / 8;
	word &= (stop ^ (stop - 1)) & ~high;
	word = (word & UINT64_C(0x007f007f007f007f)) | ((word & UINT64_C(0x7f007f007f007f00)) >> 1);
	word = (word & UINT64_C(0x00003fff00003fff)) | ((word & UINT64_C(0x3fff00003fff0000)) >> 2);
	return (word & UINT64_C(0x000000000fffffff)) | ((word & UINT64_C(0x0fffffff00000000)) >> 4);
}

/*
 * Like tpa_uvarint(), for numbers that mostly have one or two bytes: a branch that is mostly predicted well is faster
 * than none, because the processor goes on before it has seen how long the number is.
 */
static inline uint64_t tpa_uvarint_short(const uint8_t **at)
{
	const uint8_t *byte = *at;

	if (byte[0] < 128) {
		*at = byte + 1;
		return byte[0];
	}
	if (byte[1] < 128) {
		*at = byte + 2;
		return (byte[0] & 127u) | (uint64_t)byte[1] << 7;
	}
	return tpa_uvarint(at);
}

/*
 * Reads a signed difference in zigzag encoding: even numbers stand for 0, 1, 2, ..., odd ones for -1, -2, ... Returns
 * it in two's complement, to be added modulo 2^64.
 */
static inline uint64_t tpa_svarint(const uint8_t **at)
{
	uint64_t n = tpa_uvarint(at);

	return (n >> 1) ^ (0 - (n & 1));
}

/* Whether a reader that started at `start` and is now at `at` stayed inside the data, which ends at `end`. */
static inline bool tpa_read_ok(const uint8_t *start, const uint8_t *at, const uint8_t *end)
{
	return (uintptr_t)at - (uintptr_t)start <= (uintptr_t)end - (uintptr_t)start;
}

#endif
