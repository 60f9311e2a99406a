/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tprof/format.h>

#include "trace/varint.h"

#define LENGTH_MAX 65536 /* of a list; a trace with more is damaged */

struct reader {
	const uint8_t *at, *start, *end;
	FILE *out;
	bool each; /* the type stands behind each tensor */
	bool good;
	uint64_t type; /* of the first tensor; UINT64_MAX: there was none */
	bool mixed;    /* not all have it */
};

static uint64_t next(struct reader *reader)
{
	uint64_t number;

	if (!reader->good || reader->at >= reader->end) {
		reader->good = false;
		return 0;
	}
	number = tp_uvarint(&reader->at);
	reader->good = tp_read_ok(reader->start, reader->at, reader->end);
	return number;
}

/* By libtorch's numbers (c10::ScalarType), in the words that typed kernels have. */
static void put_type(FILE *out, uint64_t type)
{
	static const char *const names[] = {
		"u8",	 "s8",	  "s16",    "s32",    "s64",	  "f16",	"f32",	      "f64", "c16",   "c32",
		"c64",	 "bool",  "qs8",    "qu8",    "qs32",	  "bf16",	"qu4",	      "qu2", "bits1", "bits2",
		"bits4", "bits8", "bits16", "f8e5m2", "f8e4m3fn", "f8e5m2fnuz", "f8e4m3fnuz", "u16", "u32",   "u64",
	};

	if (type < sizeof(names) / sizeof(*names))
		fprintf(out, " %s", names[type]);
	else
		fprintf(out, " type%" PRIu64, type);
}

static void read_tensor(struct reader *reader, uint64_t what)
{
	uint64_t type = what - TPROF_TENSOR_TYPE, count;

	if (what == TPROF_TENSOR_NONE) {
		fputc('-', reader->out);
		return;
	}
	count = next(reader);
	if (!count)
		fputs("()", reader->out);
	for (uint64_t i = 0; i < count && reader->good; i++)
		fprintf(reader->out, "%s%" PRIu64, i ? "x" : "", next(reader));
	reader->mixed |= reader->type != UINT64_MAX && reader->type != type;
	reader->type = type;
	if (reader->each)
		put_type(reader->out, type);
}

static void read_list(struct reader *reader)
{
	uint64_t count = next(reader);

	reader->good = reader->good && count <= LENGTH_MAX;
	fputc('(', reader->out);
	for (uint64_t i = 0; i < count && reader->good; i++) {
		uint64_t what = next(reader);

		fputs(i ? ", " : "", reader->out);
		reader->good = reader->good && what != TPROF_TENSOR_LIST;
		if (reader->good)
			read_tensor(reader, what);
	}
	fputc(')', reader->out);
}

static void read_all(struct reader *reader)
{
	for (bool first = true; reader->at < reader->end && reader->good; first = false) {
		uint64_t what = next(reader);

		fputs(first ? "" : ", ", reader->out);
		if (what == TPROF_TENSOR_LIST)
			read_list(reader);
		else
			read_tensor(reader, what);
	}
	if (!reader->each && reader->type != UINT64_MAX)
		put_type(reader->out, reader->type);
}

bool tp_shape_text(const uint8_t *at, const uint8_t *end, char **text)
{
	struct reader reader = { .each = false };
	size_t size;
	bool again;

	do {
		again = reader.mixed && !reader.each;
		reader = (struct reader){
			.at = at, .start = at, .end = end, .good = true, .type = UINT64_MAX, .each = again
		};
		*text = NULL;
		reader.out = open_memstream(text, &size);
		if (!reader.out)
			return false;
		read_all(&reader);
		if (fclose(reader.out) != 0) {
			free(*text);
			return false;
		}
		if (!reader.good || (reader.mixed && !reader.each)) {
			free(*text);
			*text = NULL;
		}
	} while (reader.good && reader.mixed && !reader.each);
	return true;
}
