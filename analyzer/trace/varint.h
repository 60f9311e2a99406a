/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable-length numbers, read without a bounds check: whoever calls keeps TP_PADDING readable bytes behind the last
 * byte of the data, reads at most TP_PADDING bytes' worth of fields, and only then asks tp_read_ok() whether what was
 * read lay inside the data. A number of more than 64 bits moves the reader to a place of zeros, so that it fails too.
 */
#ifndef TPROF_TRACE_VARINT_H
#define TPROF_TRACE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TP_PADDING 128

struct tp_varint {
	uint64_t value;
	const uint8_t *next;
};

/* Numbers of 9 and 10 bytes, and malformed ones. */
struct tp_varint tp_varint_long(const uint8_t *at);

/* Puts the low 7 bits of eight bytes beside each other. */
static inline uint64_t tp_pack_groups(uint64_t word)
{
	word = (word & UINT64_C(0x007f007f007f007f)) | ((word & UINT64_C(0x7f007f007f007f00)) >> 1);
	word = (word & UINT64_C(0x00003fff00003fff)) | ((word & UINT64_C(0x3fff00003fff0000)) >> 2);
	return (word & UINT64_C(0x000000000fffffff)) | ((word & UINT64_C(0x0fffffff00000000)) >> 4);
}

/* The same in one instruction, where the processor has it (BMI2). */
static inline uint64_t tp_pack_groups_fast(uint64_t word)
{
#ifdef __x86_64__
	uint64_t packed;

	__asm__("pext %2, %1, %0" : "=r"(packed) : "r"(word), "r"(UINT64_C(0x7f7f7f7f7f7f7f7f)));
	return packed;
#else
	return tp_pack_groups(word);
#endif
}

/* Whether tp_pack_groups_fast() works here and is fast. */
bool tp_has_fast_pack(void);

/* Without a branch on the length: lengths vary too much for a predictor. `fast` is a constant where it is called. */
__attribute__((always_inline)) static inline uint64_t tp_uvarint_as(const uint8_t **at, bool fast)
{
	uint64_t word, stop;
	struct tp_varint slow;

	memcpy(&word, *at, sizeof(word));
	stop = ~word & UINT64_C(0x8080808080808080);
	if (__builtin_expect(!stop, 0)) {
		slow = tp_varint_long(*at);
		*at = slow.next;
		return slow.value;
	}
	*at += (__builtin_ctzll(stop) + 1) / 8;
	word &= stop ^ (stop - 1);
	return fast ? tp_pack_groups_fast(word) : tp_pack_groups(word & UINT64_C(0x7f7f7f7f7f7f7f7f));
}

static inline uint64_t tp_uvarint(const uint8_t **at)
{
	return tp_uvarint_as(at, false);
}

/* Differences: even numbers are 0, 1, 2, ..., odd ones -1, -2, ...; to be added modulo 2^64. */
__attribute__((always_inline)) static inline uint64_t tp_svarint_as(const uint8_t **at, bool fast)
{
	uint64_t n = tp_uvarint_as(at, fast);

	return (n >> 1) ^ (0 - (n & 1));
}

static inline uint64_t tp_svarint(const uint8_t **at)
{
	return tp_svarint_as(at, false);
}

/* Whether a reader that began at `start` has stayed within the data that end at `end`. */
static inline bool tp_read_ok(const uint8_t *start, const uint8_t *at, const uint8_t *end)
{
	return (uintptr_t)at - (uintptr_t)start <= (uintptr_t)end - (uintptr_t)start;
}

#endif
