/* SPDX-License-Identifier: Apache-2.0 */
/* Variable-length numbers, as include/tprof/format.h defines them. Each writes at `p` and returns what is behind. */
#ifndef TPROF_CORE_VARINT_H
#define TPROF_CORE_VARINT_H

#include "core/base.h"

static inline uint8_t *tp_put_uvarint(uint8_t *p, uint64_t n)
{
	while (tp_unlikely(n >= 0x80)) {
		*p++ = (uint8_t)(n | 0x80);
		n >>= 7;
	}
	*p++ = (uint8_t)n;
	return p;
}

static inline uint8_t *tp_put_svarint(uint8_t *p, int64_t n)
{
	return tp_put_uvarint(p, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

static inline uint8_t *tp_put_bytes(uint8_t *p, const void *bytes, size_t length)
{
	memcpy(p, bytes, length);
	return p + length;
}

/* Fills in the length byte that was left out at `length`: for records of less than 128 bytes. */
static inline void tp_put_length(uint8_t *length, const uint8_t *end)
{
	*length = (uint8_t)(end - length - 1);
}

#endif
