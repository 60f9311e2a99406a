/* SPDX-License-Identifier: Apache-2.0 */
/* Writes variable-length numbers (include/tprof/format.h) at `p`. Each function returns the place behind the number. */
#ifndef TPROF_CORE_VARINT_H
#define TPROF_CORE_VARINT_H

#include "core/base.h"

#include "core/assert.h"

static inline uint8_t *tpc_put_uvarint(uint8_t *p, uint64_t n)
{
	while (tpc_unlikely(n >= 0x80)) {
		*p++ = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	*p++ = (uint8_t)n;
	return p;
}

static inline uint8_t *tpc_put_svarint(uint8_t *p, int64_t n)
{
	return tpc_put_uvarint(p, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

/* ---- for the hot path: these may write up to 4 bytes beyond the number ---- */

extern const uint64_t tpc_varint_shapes[28] TPC_NEAR;

TPC_SLOW uint8_t *tpc_put_large(uint8_t *p, uint64_t n);

/* n < 2^28, of any length: 15 instructions without a branch that could be mispredicted. */
TPC_HOT uint8_t *tpc_put_uvarint28(uint8_t *p, uint32_t n)
{
	uint64_t shape = tpc_varint_shapes[tpc_arch_highest_bit((uint64_t)n | 1)];
	uint32_t bytes;

	tpc_assert(n < 1u << 28);
	n += (n & 0xfffc000) * 3; /* 14 bits in each half: the upper ones move up by two */
	n += n & 0x3f803f80;	  /* and in each half the upper 7 by one */
	bytes = n | (uint32_t)shape;
	memcpy(p, &bytes, sizeof(bytes));
	return p + (shape >> 32);
}

/* For numbers that mostly take one byte or two; n < 2^28. */
TPC_HOT uint8_t *tpc_put_short28(uint8_t *p, uint32_t n)
{
	if (tpc_likely(n < 0x80)) {
		*p = (uint8_t)n;
		return p + 1;
	}
	if (tpc_likely(n < 0x4000)) {
		uint16_t bytes = (uint16_t)(n + (n & 0x3f80)) | 0x80;

		memcpy(p, &bytes, sizeof(bytes));
		return p + 2;
	}
	return tpc_put_uvarint28(p, n);
}

/* The same for any n. */
TPC_HOT uint8_t *tpc_put_short(uint8_t *p, uint64_t n)
{
	return tpc_likely(n < 1u << 28) ? tpc_put_short28(p, (uint32_t)n) : tpc_put_large(p, n);
}

TPC_HOT uint64_t tpc_zigzag(int64_t n)
{
	return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

/* For numbers of no typical length. */
TPC_HOT uint8_t *tpc_put_signed(uint8_t *p, int64_t n)
{
	uint64_t zigzag = tpc_zigzag(n);

	return tpc_likely(zigzag < 1u << 28) ? tpc_put_uvarint28(p, (uint32_t)zigzag) : tpc_put_large(p, zigzag);
}

static inline uint8_t *tpc_put_bytes(uint8_t *p, const void *bytes, size_t length)
{
	memcpy(p, bytes, length);
	return p + length;
}

/* Fills in the length byte at `length`, for records shorter than 128 bytes. */
static inline void tpc_put_length(uint8_t *length, const uint8_t *end)
{
	tpc_assert(end > length && end - length - 1 < 0x80);
	*length = (uint8_t)(end - length - 1);
}

#endif
