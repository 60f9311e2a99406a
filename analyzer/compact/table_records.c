/* SPDX-License-Identifier: Apache-2.0 */
/* The records of table chunks: which field goes into which column. format.h describes the records. */
#include <tprof/format.h>

#include "compact/group.h"

struct numbers { /* of the last FRAME and PYTHON records */
	uint64_t frame, python;
};

/* A number that is mostly the last one's successor: the difference is in the column. */
static void code_step(struct tpa_coder *coder, unsigned column, uint64_t *last, bool decoding)
{
	uint64_t step, value;

	if (decoding) {
		step = tpa_unzigzag(tpa_column_take(coder, column));
		value = *last + step;
		tpa_records_put(coder, value);
	} else {
		value = tpa_records_take(coder);
		tpa_column_put(coder, column, tpa_zigzag(value - *last));
	}
	*last = value;
}

static size_t position(const struct tpa_coder *coder, bool decoding)
{
	return decoding ? (size_t)coder->out : (size_t)coder->in;
}

/* FRAME and PYTHON: a number, two more, a byte of flags; later versions may add fields. */
static void code_frame(struct tpa_coder *coder, uint8_t tag, uint64_t length, uint64_t *last, bool decoding)
{
	unsigned first = tag >> 2 == TPROF_TABLE_FRAME ? TPA_COLUMN_FRAME : TPA_COLUMN_PYTHON;
	size_t begin = position(coder, decoding), used;

	code_step(coder, first, last, decoding);
	tpa_code_number(coder, first + 1, decoding);
	tpa_code_number(coder, first + 2, decoding);
	tpa_code_byte(coder, first + 3, decoding);
	used = position(coder, decoding) - begin;
	if (used > length)
		coder->failed = true;
	else
		tpa_code_bytes(coder, TPA_COLUMN_LONG + (tag >> 2), length - used, decoding);
}

static void code_long(struct tpa_coder *coder, uint8_t tag, struct numbers *numbers, bool decoding)
{
	uint64_t length = tpa_code_number(coder, TPA_COLUMN_LENGTH, decoding);

	tpa_visit_body(coder, tag, length, decoding);
	if (tag >> 2 == TPROF_TABLE_FRAME)
		code_frame(coder, tag, length, &numbers->frame, decoding);
	else if (tag >> 2 == TPROF_TABLE_PYTHON)
		code_frame(coder, tag, length, &numbers->python, decoding);
	else
		tpa_code_bytes(coder, TPA_COLUMN_LONG + (tag >> 2), length, decoding);
}

static void code_nodes(struct tpa_coder *coder, uint8_t tag, bool decoding)
{
	uint64_t count = tag >> 2;

	if (!count)
		count = tpa_code_number(coder, TPA_COLUMN_COUNT, decoding);
	tpa_code_number(coder, TPA_COLUMN_FIRST, decoding);
	tpa_code_number(coder, TPA_COLUMN_PARENT, decoding);
	for (; count && !coder->failed; count--)
		tpa_code_number(coder, TPA_COLUMN_NODE_FRAME, decoding);
}

static void code_join(struct tpa_coder *coder, uint8_t tag, bool decoding)
{
	if (tag & TPROF_JOIN_NODE)
		tpa_code_number(coder, TPA_COLUMN_JOIN_NODE, decoding);
	if (tag & TPROF_JOIN_NATIVE)
		tpa_code_number(coder, TPA_COLUMN_JOIN_NATIVE, decoding);
	if (tag & TPROF_JOIN_PYTHON)
		tpa_code_number(coder, TPA_COLUMN_JOIN_PYTHON, decoding);
}

void tpa_code_tables(struct tpa_coder *coder, bool decoding)
{
	struct numbers numbers = { 0 };

	while (!coder->failed && (decoding ? coder->out < coder->out_end : coder->in < coder->in_end)) {
		uint8_t tag = tpa_code_byte(coder, TPA_COLUMN_TAG, decoding);

		if ((tag & 3) == TPROF_CLASS_LONG)
			code_long(coder, tag, &numbers, decoding);
		else if ((tag & 3) == TPROF_CLASS_NODES)
			code_nodes(coder, tag, decoding);
		else if ((tag & 3) == TPROF_CLASS_JOIN)
			code_join(coder, tag, decoding);
		else
			coder->failed = true;
	}
}
