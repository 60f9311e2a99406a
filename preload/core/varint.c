/* SPDX-License-Identifier: Apache-2.0 */
#include "core/varint.h"

/* By the highest bit: which of the four bytes are followed by another, and how many bytes there are. */
#define SHAPE_1 UINT64_C(0x100000000)
#define SHAPE_2 UINT64_C(0x200000080)
#define SHAPE_3 UINT64_C(0x300008080)
#define SHAPE_4 UINT64_C(0x400808080)

const uint64_t tpc_varint_shapes[28] = {
	SHAPE_1, SHAPE_1, SHAPE_1, SHAPE_1, SHAPE_1, SHAPE_1, SHAPE_1, /* 7 bits a byte */
	SHAPE_2, SHAPE_2, SHAPE_2, SHAPE_2, SHAPE_2, SHAPE_2, SHAPE_2, /* */
	SHAPE_3, SHAPE_3, SHAPE_3, SHAPE_3, SHAPE_3, SHAPE_3, SHAPE_3, /* */
	SHAPE_4, SHAPE_4, SHAPE_4, SHAPE_4, SHAPE_4, SHAPE_4, SHAPE_4,
};

uint8_t *tpc_put_large(uint8_t *p, uint64_t n)
{
	return tpc_put_uvarint(p, n);
}
