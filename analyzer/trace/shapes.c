/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tprof/format.h>

#include "base/memory.h"
#include "base/varint.h"

#define LENGTH_MAX 65536 /* of a list; a trace with more is damaged */

/* ---- items ---- */

static bool read_number(struct tpa_shape_reader *reader, uint64_t *number)
{
	const uint8_t *start = reader->at;

	if (reader->at >= reader->end)
		return false;
	*number = tpa_uvarint(&reader->at);
	return tpa_read_ok(start, reader->at, reader->end);
}

static enum tpa_shape_item read_sizes(struct tpa_shape_reader *reader, struct tpa_tensor *tensor)
{
	if (!read_number(reader, &tensor->count) || tensor->count > TPA_TENSOR_DIMS)
		return TPA_SHAPE_DAMAGE;
	for (uint64_t i = 0; i < tensor->count; i++)
		if (!read_number(reader, &tensor->sizes[i]))
			return TPA_SHAPE_DAMAGE;
	return TPA_SHAPE_TENSOR;
}

static enum tpa_shape_item read_list(struct tpa_shape_reader *reader, struct tpa_tensor *tensor)
{
	if (reader->in_list || !read_number(reader, &tensor->count) || tensor->count > LENGTH_MAX)
		return TPA_SHAPE_DAMAGE;
	reader->in_list = tensor->count + 1;
	return TPA_SHAPE_LIST;
}

enum tpa_shape_item tpa_shape_next(struct tpa_shape_reader *reader, struct tpa_tensor *tensor)
{
	enum tpa_shape_item item;
	uint64_t what;

	if (reader->at >= reader->end)
		return reader->in_list ? TPA_SHAPE_DAMAGE : TPA_SHAPE_END;
	if (!read_number(reader, &what))
		return TPA_SHAPE_DAMAGE;
	if (what == TPROF_TENSOR_LIST)
		item = read_list(reader, tensor);
	else if (what == TPROF_TENSOR_NONE)
		item = TPA_SHAPE_NONE;
	else
		item = read_sizes(reader, tensor);
	tensor->type = what - TPROF_TENSOR_TYPE;
	reader->in_list -= reader->in_list > 0;
	return item;
}

/* ---- text ---- */

struct writer {
	FILE *out;
	bool each;     /* the type stands behind each tensor */
	uint64_t type; /* of the last tensor; UINT64_MAX: there was none */
	bool mixed;    /* not all have it */
};

/* By libtorch's numbers (c10::ScalarType), with the names that typed kernels use. */
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

static void put_tensor(struct writer *to, const struct tpa_tensor *tensor)
{
	if (!tensor->count)
		fputs("()", to->out);
	for (uint64_t i = 0; i < tensor->count; i++)
		fprintf(to->out, "%s%" PRIu64, i ? "x" : "", tensor->sizes[i]);
	to->mixed |= to->type != UINT64_MAX && to->type != tensor->type;
	to->type = tensor->type;
	if (to->each)
		put_type(to->out, tensor->type);
}

static bool put_all(struct writer *to, struct tpa_shape_reader reader)
{
	struct tpa_tensor tensor;
	uint64_t left = 0; /* of a list */
	bool first = true;

	for (;;) {
		enum tpa_shape_item item = tpa_shape_next(&reader, &tensor);

		if (item == TPA_SHAPE_END || item == TPA_SHAPE_DAMAGE)
			return item == TPA_SHAPE_END;
		fputs(first ? "" : ", ", to->out);
		first = item == TPA_SHAPE_LIST && tensor.count;
		if (item == TPA_SHAPE_LIST) {
			fputs(tensor.count ? "(" : "()", to->out);
			left = tensor.count;
			continue;
		}
		if (item == TPA_SHAPE_TENSOR)
			put_tensor(to, &tensor);
		else
			fputc('-', to->out);
		if (left && !--left)
			fputc(')', to->out);
	}
}

char *tpa_shape_text(const uint8_t *at, const uint8_t *end)
{
	struct writer to = { .mixed = false };
	bool good, again;
	char *text;
	size_t size;

	do {
		to = (struct writer){ .each = to.mixed, .type = UINT64_MAX };
		text = NULL;
		to.out = open_memstream(&text, &size);
		if (!to.out)
			tpa_no_memory();
		good = put_all(&to, (struct tpa_shape_reader){ .at = at, .end = end });
		if (good && !to.each && !to.mixed && to.type != UINT64_MAX)
			put_type(to.out, to.type);
		if (fclose(to.out) != 0)
			tpa_no_memory();
		again = good && to.mixed && !to.each;
		if (!good || again) {
			free(text);
			text = NULL;
		}
	} while (again);
	return text;
}
