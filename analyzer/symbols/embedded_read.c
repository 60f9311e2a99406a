/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pairs.h"
#include "base/varint.h"
#include "symbols/embedded.h"
#include "symbols/names.h"
#include "trace/compact_trace.h"

struct frame {
	uint32_t location, count; /* the first of the list's, and how many */
	struct tpa_cfi_place place;
	bool has_place;
};

struct module {
	uint32_t id;
	enum tpa_module_state state;
	bool named;
};

struct tpa_embedded {
	uint8_t *bytes; /* with padding behind them */
	const char **texts;
	size_t text_count;
	struct frame *frames;
	struct tpa_pairs index; /* (address, module) to the index in frames, + 1 */
	size_t frame_count, frame_room;
	struct tpa_location *locations;
	size_t location_count, location_room;
	struct module *modules;
	size_t module_count, module_room;
	struct tpa_embedded_op *ops;
	size_t op_count, op_room;
	struct tpa_unseen_allocator *allocators;
	size_t allocator_count, allocator_room;
};

struct reader {
	struct tpa_embedded *embedded;
	const uint8_t *at, *end;
	bool failed;
};

static uint64_t number(struct reader *reader)
{
	const uint8_t *begin = reader->at;
	uint64_t value;

	if (reader->failed || begin >= reader->end) {
		reader->failed = true;
		return 0;
	}
	value = tpa_uvarint(&reader->at);
	if (tpa_read_ok(begin, reader->at, reader->end))
		return value;
	reader->failed = true;
	return 0;
}

/* A number that is less than `limit`; every thing that is counted takes a byte at least, so counts are below the bytes left. */
static uint64_t number_below(struct reader *reader, uint64_t limit)
{
	uint64_t value = number(reader);

	if (value < limit)
		return value;
	reader->failed = true;
	return 0;
}

static uint64_t count_of(struct reader *reader)
{
	return number_below(reader, reader->failed ? 1 : (uint64_t)(reader->end - reader->at) + 1);
}

static const char *text(struct reader *reader)
{
	uint64_t which = number_below(reader, reader->embedded->text_count + 1);

	return which ? reader->embedded->texts[which - 1] : NULL;
}

static void read_texts(struct reader *reader)
{
	struct tpa_embedded *embedded = reader->embedded;
	uint64_t count = count_of(reader), length = count_of(reader);
	const char *at, *end;

	if (reader->failed || length > (uint64_t)(reader->end - reader->at) || count > length) {
		reader->failed = true;
		return;
	}
	at = (const char *)reader->at;
	end = at + length;
	reader->at += length;
	embedded->texts = tpa_zalloc(count, sizeof(*embedded->texts));
	for (; embedded->text_count < count; at += strlen(at) + 1) {
		if (at >= end || !memchr(at, 0, (size_t)(end - at))) {
			reader->failed = true;
			return;
		}
		embedded->texts[embedded->text_count++] = at;
	}
}

static void read_location(struct reader *reader, struct tpa_location *location)
{
	*location = (struct tpa_location){ .function = text(reader) };
	location->linkage = text(reader);
	location->file = text(reader);
	location->line = (int)number_below(reader, INT32_MAX);
	location->inlined = number_below(reader, 2);
}

static void read_frame(struct reader *reader)
{
	struct tpa_embedded *embedded = reader->embedded;
	struct frame *frame = TPA_APPEND(embedded->frames, embedded->frame_count, embedded->frame_room);
	uint64_t count = number_below(reader, TPA_INLINED_MAX + 1), kind;

	*frame = (struct frame){ .location = (uint32_t)embedded->location_count, .count = (uint32_t)count };
	for (; count && !reader->failed; count--) {
		tpa_grow(&embedded->locations, &embedded->location_room, embedded->location_count + 1,
			 sizeof(*embedded->locations));
		read_location(reader, &embedded->locations[embedded->location_count++]);
	}
	kind = number_below(reader, TPA_CFI_UNINDEXED + 2);
	frame->has_place = kind != 0;
	if (kind) {
		frame->place.kind = (enum tpa_cfi_kind)(kind - 1);
		frame->place.has_frame_pointer = number_below(reader, 2);
	}
}

static void read_frames(struct reader *reader)
{
	struct tpa_embedded *embedded = reader->embedded;
	uint64_t address = 0;

	for (uint64_t count = count_of(reader); count && !reader->failed; count--) {
		uint64_t module = number_below(reader, UINT32_MAX), step = number(reader);

		address += step >> 1 ^ (0 - (step & 1));
		read_frame(reader);
		tpa_pairs_set(&embedded->index, address, module, (uint32_t)embedded->frame_count);
	}
}

static void read_modules(struct reader *reader)
{
	struct tpa_embedded *embedded = reader->embedded;

	for (uint64_t count = count_of(reader); count && !reader->failed; count--) {
		struct module module = { .id = (uint32_t)number_below(reader, UINT32_MAX) };

		module.state = (enum tpa_module_state)number_below(reader, TPA_MODULE_UNREADABLE + 1);
		module.named = number_below(reader, 2);
		*TPA_APPEND(embedded->modules, embedded->module_count, embedded->module_room) = module;
	}
}

static void read_ops(struct reader *reader)
{
	struct tpa_embedded *embedded = reader->embedded;

	for (uint64_t count = count_of(reader); count && !reader->failed; count--) {
		struct tpa_embedded_op op = { .op = (uint32_t)number_below(reader, UINT32_MAX) };

		op.name = text(reader);
		op.has_symbol = number_below(reader, 2);
		reader->failed |= !op.name;
		*TPA_APPEND(embedded->ops, embedded->op_count, embedded->op_room) = op;
	}
}

static void read_allocators(struct reader *reader)
{
	struct tpa_embedded *embedded = reader->embedded;

	for (uint64_t count = count_of(reader); count && !reader->failed; count--) {
		struct tpa_unseen_allocator unseen = { .name = text(reader) };

		unseen.symbol = text(reader);
		unseen.module = text(reader);
		unseen.setting = text(reader);
		unseen.pool = number_below(reader, 2);
		reader->failed |= !unseen.name || !unseen.symbol || !unseen.module;
		*TPA_APPEND(embedded->allocators, embedded->allocator_count, embedded->allocator_room) = unseen;
	}
}

struct tpa_embedded *tpa_embedded_open(const struct tpa_trace *trace)
{
	size_t length;
	const uint8_t *bytes = tpa_trace_embedded(trace, &length);
	struct tpa_embedded *embedded;
	struct reader reader;

	if (!bytes)
		return NULL;
	embedded = tpa_zalloc(1, sizeof(*embedded));
	embedded->bytes = tpa_zalloc(1, length + TPA_PADDING);
	memcpy(embedded->bytes, bytes, length);
	reader = (struct reader){ .embedded = embedded, .at = embedded->bytes, .end = embedded->bytes + length };
	read_texts(&reader);
	read_frames(&reader);
	read_modules(&reader);
	read_ops(&reader);
	read_allocators(&reader);
	if (!reader.failed)
		return embedded;
	tpa_embedded_close(embedded);
	return NULL;
}

void tpa_embedded_close(struct tpa_embedded *embedded)
{
	if (!embedded)
		return;
	free(embedded->bytes);
	free((void *)embedded->texts);
	free(embedded->frames);
	tpa_pairs_free(&embedded->index);
	free(embedded->locations);
	free(embedded->modules);
	free(embedded->ops);
	free(embedded->allocators);
	free(embedded);
}

static const struct frame *find(const struct tpa_embedded *embedded, const struct tpa_frame *frame)
{
	uint32_t found =
		tpa_pairs_find(&embedded->index, tpa_frame_address(frame), frame->module ? frame->module->id : 0);

	return found ? &embedded->frames[found - 1] : NULL;
}

const struct tpa_location *tpa_embedded_frame(const struct tpa_embedded *embedded, const struct tpa_frame *frame,
					      size_t *count)
{
	const struct frame *found = find(embedded, frame);

	if (!found || !found->count)
		return NULL;
	*count = found->count;
	return embedded->locations + found->location;
}

bool tpa_embedded_cfi(const struct tpa_embedded *embedded, const struct tpa_frame *frame, struct tpa_cfi_place *place)
{
	const struct frame *found = find(embedded, frame);

	if (!found || !found->has_place)
		return false;
	*place = found->place;
	return true;
}

bool tpa_embedded_module(const struct tpa_embedded *embedded, uint32_t id, enum tpa_module_state *state, bool *named)
{
	for (size_t i = 0; i < embedded->module_count; i++)
		if (embedded->modules[i].id == id) {
			*state = embedded->modules[i].state;
			*named = embedded->modules[i].named;
			return true;
		}
	return false;
}

const struct tpa_embedded_op *tpa_embedded_ops(const struct tpa_embedded *embedded, size_t *count)
{
	*count = embedded->op_count;
	return embedded->ops;
}

const struct tpa_unseen_allocator *tpa_embedded_allocators(const struct tpa_embedded *embedded, size_t *count)
{
	*count = embedded->allocator_count;
	return embedded->allocators;
}
