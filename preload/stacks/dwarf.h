/* SPDX-License-Identifier: Apache-2.0 */
/* Reads DWARF's numbers and pointers (DWARF 5, section 7.6; LSB 5.0 Core, 10.5 for the pointer encodings). */
#ifndef TPROF_STACKS_DWARF_H
#define TPROF_STACKS_DWARF_H

#include "core/base.h"

struct tpc_cursor {
	const uint8_t *at, *end;
};

static inline uint64_t tpc_read_fixed(struct tpc_cursor *cursor, size_t size)
{
	uint64_t n = 0;

	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->at = cursor->end;
		return 0;
	}
	memcpy(&n, cursor->at, size);
	cursor->at += size;
	return n;
}

static inline uint64_t tpc_read_uleb(struct tpc_cursor *cursor)
{
	uint64_t n = 0;
	unsigned int shift = 0;

	while (cursor->at < cursor->end) {
		uint8_t byte = *cursor->at++;

		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	return n;
}

static inline int64_t tpc_read_sleb(struct tpc_cursor *cursor)
{
	uint64_t n = 0;
	unsigned int shift = 0;
	uint8_t byte = 0;

	while (cursor->at < cursor->end) {
		byte = *cursor->at++;
		if (shift < 64)
			n |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80))
			break;
	}
	if (shift < 64 && byte & 0x40)
		n |= ~UINT64_C(0) << shift;
	return (int64_t)n;
}

enum {
	TPC_PE_ABSPTR = 0x00,
	TPC_PE_UDATA2 = 0x02,
	TPC_PE_UDATA4 = 0x03,
	TPC_PE_UDATA8 = 0x04,
	TPC_PE_SDATA2 = 0x0a,
	TPC_PE_SDATA4 = 0x0b,
	TPC_PE_SDATA8 = 0x0c,
	TPC_PE_PCREL = 0x10,
	TPC_PE_DATAREL = 0x30,
	TPC_PE_INDIRECT = 0x80,
	TPC_PE_OMIT = 0xff,
};

/* Reads a pointer in `encoding`; `data` is the base of TPC_PE_DATAREL. Reads only its value if `encoding` < 0x10. */
static inline uint64_t tpc_read_pointer(struct tpc_cursor *cursor, uint8_t encoding, uintptr_t data)
{
	uintptr_t here = (uintptr_t)cursor->at;
	uint64_t n;

	switch (encoding & 0x0f) {
	case TPC_PE_UDATA2:
		n = tpc_read_fixed(cursor, 2);
		break;
	case TPC_PE_SDATA2:
		n = (uint64_t)(int64_t)(int16_t)tpc_read_fixed(cursor, 2);
		break;
	case TPC_PE_UDATA4:
		n = tpc_read_fixed(cursor, 4);
		break;
	case TPC_PE_SDATA4:
		n = (uint64_t)(int64_t)(int32_t)tpc_read_fixed(cursor, 4);
		break;
	default:
		n = tpc_read_fixed(cursor, 8);
		break;
	}
	if (n == 0)
		return 0;
	switch (encoding & 0x70) {
	case TPC_PE_PCREL:
		return n + here;
	case TPC_PE_DATAREL:
		return n + data;
	}
	return n;
}

#endif
