/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves bytes between the records of chunks and columns of like bytes. One description of the records (event_records.c,
 * table_records.c) serves both ways: to encode, a byte is taken from the records and appended to its column; to decode, it is taken
 * from its column and appended to the records.
 */
#ifndef TPROF_COMPACT_CODER_H
#define TPROF_COMPACT_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

#define TPA_LONG_TYPES 64u
#define TPA_CLASSES 4u

/* The columns of a group, in the order of tprof-trace(5). */
enum tpa_column_number {
	TPA_COLUMN_METHOD, /* a byte a chunk: enum tpa_method */
	TPA_COLUMN_PLAIN,  /* the records of chunks that are not coded */
	TPA_COLUMN_TAG,
	TPA_COLUMN_LENGTH, /* of records with a length */
	/* Events */
	TPA_COLUMN_ALLOC_FROM,
	TPA_COLUMN_FREE_OF,
	TPA_COLUMN_INDEX,
	TPA_COLUMN_DELTA,
	TPA_COLUMN_SIZE,
	TPA_COLUMN_USABLE,
	TPA_COLUMN_ALLOC_FN,
	TPA_COLUMN_FREE_FN,
	TPA_COLUMN_STACK_INDEX,
	TPA_COLUMN_STACK_DELTA,
	TPA_COLUMN_OP,
	/* Tables */
	TPA_COLUMN_COUNT,
	TPA_COLUMN_FIRST,
	TPA_COLUMN_PARENT,
	TPA_COLUMN_NODE_FRAME,
	TPA_COLUMN_JOIN_NODE,
	TPA_COLUMN_JOIN_NATIVE,
	TPA_COLUMN_JOIN_PYTHON,
	TPA_COLUMN_FRAME,
	TPA_COLUMN_FRAME_MODULE,
	TPA_COLUMN_FRAME_PC,
	TPA_COLUMN_FRAME_FLAGS,
	TPA_COLUMN_PYTHON,
	TPA_COLUMN_PYTHON_CODE,
	TPA_COLUMN_PYTHON_LINE,
	TPA_COLUMN_PYTHON_FLAGS,
	/* Time differences, by the class of the record and of the one before it */
	TPA_COLUMN_TIME,
	/* The rest of records with a length, by type */
	TPA_COLUMN_LONG = TPA_COLUMN_TIME + TPA_CLASSES * TPA_CLASSES,
	TPA_COLUMNS = TPA_COLUMN_LONG + TPA_LONG_TYPES,
};

enum tpa_method { TPA_METHOD_PLAIN, TPA_METHOD_EVENTS, TPA_METHOD_TABLES };

struct tpa_column {
	uint8_t *bytes;
	size_t length, room; /* room 0: the bytes belong to another */
	size_t at;	     /* decoding: the next byte */
};

/* Is given each record with a length, while records are encoded, and may change its body. */
typedef void tpa_record_visit(void *context, unsigned type, uint8_t *body, size_t length);

struct tpa_coder {
	struct tpa_column columns[TPA_COLUMNS];
	const uint8_t *in, *in_end; /* encoding: the records that are left */
	uint8_t *out, *out_end;	    /* decoding: where records go */
	tpa_record_visit *visit;    /* encoding: NULL, or to be called before a body moves; with */
	void *context;		    /* this */
	bool failed;		    /* the records can't be coded; or, decoding, the columns are damaged */
};

/* Moves a byte of the column's, and returns it. */
__attribute__((always_inline)) static inline uint8_t tpa_code_byte(struct tpa_coder *coder, unsigned number,
								   bool decoding)
{
	struct tpa_column *column = &coder->columns[number];
	uint8_t byte;

	if (decoding) {
		if (__builtin_expect(column->at >= column->length || coder->out >= coder->out_end, 0)) {
			coder->failed = true;
			return 0;
		}
		byte = column->bytes[column->at++];
		*coder->out++ = byte;
		return byte;
	}
	if (__builtin_expect(coder->in >= coder->in_end, 0)) {
		coder->failed = true;
		return 0;
	}
	byte = *coder->in++;
	*TPA_APPEND(column->bytes, column->length, column->room) = byte;
	return byte;
}

/* Moves an uvarint, and returns its value. */
__attribute__((always_inline)) static inline uint64_t tpa_code_number(struct tpa_coder *coder, unsigned number,
								      bool decoding)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = tpa_code_byte(coder, number, decoding);

		value |= (uint64_t)(byte & 127u) << shift;
		if (byte < 128)
			return value;
	}
	coder->failed = true;
	return 0;
}

/* Of a record whose length was moved: calls coder->visit. */
static inline void tpa_visit_body(struct tpa_coder *coder, uint8_t tag, uint64_t length, bool decoding)
{
	if (!decoding && coder->visit && !coder->failed && length <= (uint64_t)(coder->in_end - coder->in))
		coder->visit(coder->context, tag >> 2, (uint8_t *)(uintptr_t)coder->in, length);
}

/* Moves `count` bytes. */
void tpa_code_bytes(struct tpa_coder *coder, unsigned number, uint64_t count, bool decoding);

/* Numbers that are in columns alone, or in records alone. Reading them fails the coder where there are none. */
void tpa_column_put(struct tpa_coder *coder, unsigned number, uint64_t value);
uint64_t tpa_column_take(struct tpa_coder *coder, unsigned number);
void tpa_records_put(struct tpa_coder *coder, uint64_t value);
uint64_t tpa_records_take(struct tpa_coder *coder); /* fails too for one with more bytes than it needs */

static inline uint64_t tpa_zigzag(uint64_t n)
{
	return n << 1 ^ (0 - (n >> 63));
}

static inline uint64_t tpa_unzigzag(uint64_t n)
{
	return n >> 1 ^ (0 - (n & 1));
}

#endif
