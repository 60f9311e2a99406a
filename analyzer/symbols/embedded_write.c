/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/pairs.h"
#include "symbols/embedded.h"

struct bytes {
	uint8_t *list;
	size_t count, room;
};

struct writer {
	const struct tpa_trace *trace;
	struct tpa_symbols *symbols;
	struct bytes texts, rest;
	struct tpa_arena *arena;
	struct tpa_pairs numbers; /* of texts, from 1 on */
	uint32_t text_count;
	struct tpa_cfi_file **cfi; /* by module */
	bool *cfi_opened;
};

static void put_byte(struct bytes *bytes, unsigned byte)
{
	*TPA_APPEND(bytes->list, bytes->count, bytes->room) = (uint8_t)byte;
}

static void put(struct bytes *bytes, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put_byte(bytes, (unsigned)(value & 127) | 128);
	put_byte(bytes, (unsigned)value);
}

/* Puts the number of a text; 0: NULL. */
static void put_text(struct writer *writer, const char *text)
{
	const char *own = tpa_arena_intern(writer->arena, text);
	uint32_t *number;
	bool found;

	if (!text) {
		put(&writer->rest, 0);
		return;
	}
	number = tpa_pairs_at(&writer->numbers, (uintptr_t)own, 0, &found);
	if (!found) {
		*number = ++writer->text_count;
		for (const char *c = own; *c; c++)
			put_byte(&writer->texts, (uint8_t)*c);
		put_byte(&writer->texts, 0);
	}
	put(&writer->rest, *number);
}

/* ---- frames ---- */

static bool is_untabled(const struct tpa_frame *frame)
{
	return frame->module && !frame->module->collector && frame->flags & TPROF_FRAME_UNTABLED;
}

static void put_cfi(struct writer *writer, const struct tpa_frame *frame)
{
	size_t module = (size_t)(frame->module - writer->trace->modules);
	struct tpa_cfi_place place;

	if (!writer->cfi_opened[module])
		writer->cfi[module] = tpa_cfi_open(frame->module);
	writer->cfi_opened[module] = true;
	place = tpa_cfi_at(writer->cfi[module], tpa_frame_address(frame));
	put_byte(&writer->rest, 1u + place.kind);
	put_byte(&writer->rest, place.has_frame_pointer);
}

static void put_frame(struct writer *writer, uint32_t number)
{
	const struct tpa_frame *frame = &writer->trace->frames[number];
	const struct tpa_symbol *symbol = tpa_symbols_frame(writer->symbols, number);

	put(&writer->rest, symbol->count);
	for (size_t i = 0; i < symbol->count; i++) {
		const struct tpa_location *location = &symbol->locations[i];

		put_text(writer, location->function);
		put_text(writer, location->linkage);
		put_text(writer, location->file);
		put(&writer->rest, (uint64_t)(location->line > 0 ? location->line : 0));
		put_byte(&writer->rest, location->inlined);
	}
	if (is_untabled(frame))
		put_cfi(writer, frame);
	else
		put_byte(&writer->rest, 0);
}

/* A Python frame is in the trace with its names; the names of code that a compiler made depend on the time. */
static bool is_native(const struct tpa_frame *frame)
{
	return !frame->code && frame->pc && !frame->jit;
}

/* Frames are made when they are asked for. */
static void make_frames(const struct tpa_trace *trace)
{
	struct tpa_call call;
	size_t node = TPROF_NODE_FIRST;

	while (tpa_trace_call(trace, node, &call))
		node++;
}

/* Names of neighbours are alike. */
static int by_place(const void *a, const void *b, void *context)
{
	const struct tpa_frame *frames = context, *x = &frames[*(const uint32_t *)a],
			       *y = &frames[*(const uint32_t *)b];

	return TPA_UP(x->module ? x->module->id : 0, y->module ? y->module->id : 0) ?:
	       TPA_UP(tpa_frame_address(x), tpa_frame_address(y)) ?:
	       TPA_UP(x->flags, y->flags);
}

static void put_frames(struct writer *writer)
{
	const struct tpa_trace *trace = writer->trace;
	uint32_t *order = tpa_zalloc(trace->frame_count, sizeof(*order));
	uint64_t last = 0;
	size_t count = 0;

	for (uint32_t i = 1; i < trace->frame_count; i++)
		if (is_native(&trace->frames[i]))
			order[count++] = i;
	qsort_r(order, count, sizeof(*order), by_place, trace->frames);
	put(&writer->rest, count);
	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[order[i]];
		uint64_t address = tpa_frame_address(frame);

		put(&writer->rest, frame->module ? frame->module->id : 0);
		put(&writer->rest, (address - last) << 1 ^ (0 - ((address - last) >> 63)));
		put_frame(writer, order[i]);
		last = address;
	}
	free(order);
}

/* ---- the others ---- */

/* Once all frames were looked up. */
static void put_modules(struct writer *writer)
{
	const struct tpa_trace *trace = writer->trace;

	put(&writer->rest, trace->module_count);
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct tpa_module *module = &trace->modules[i];

		put(&writer->rest, module->id);
		put_byte(&writer->rest, tpa_symbols_module_state(writer->symbols, module));
		put_byte(&writer->rest, tpa_symbols_module_is_named(writer->symbols, module));
	}
}

static void put_ops(struct writer *writer)
{
	const struct tpa_trace *trace = writer->trace;
	size_t end = trace->regions ? trace->regions : trace->op_count;
	uint64_t count = 0;

	for (size_t i = 1; i < end; i++)
		count += trace->ops[i].name != NULL;
	put(&writer->rest, count);
	for (size_t i = 1; i < end; i++) {
		if (!trace->ops[i].name)
			continue;
		put(&writer->rest, i);
		put_text(writer, trace->ops[i].name);
		put_byte(&writer->rest, trace->ops[i].has_symbol);
	}
}

static void put_allocators(struct writer *writer)
{
	const struct tpa_trace *trace = writer->trace;

	put(&writer->rest, trace->unseen_count);
	for (size_t i = 0; i < trace->unseen_count; i++) {
		const struct tpa_unseen_allocator *unseen = &trace->unseen[i];

		put_text(writer, unseen->name);
		put_text(writer, unseen->symbol);
		put_text(writer, unseen->module);
		put_text(writer, unseen->setting);
		put_byte(&writer->rest, unseen->pool);
	}
}

/* The texts come first. */
static uint8_t *joined(const struct writer *writer, size_t *length)
{
	struct bytes all = { 0 };

	put(&all, writer->text_count);
	put(&all, writer->texts.count);
	tpa_grow(&all.list, &all.room, all.count + writer->texts.count + writer->rest.count, 1);
	if (writer->texts.count)
		memcpy(all.list + all.count, writer->texts.list, writer->texts.count);
	memcpy(all.list + all.count + writer->texts.count, writer->rest.list, writer->rest.count);
	*length = all.count + writer->texts.count + writer->rest.count;
	return all.list;
}

uint8_t *tpa_embedded_make(const struct tpa_trace *trace, struct tpa_symbols *symbols, size_t *length)
{
	struct writer writer = { .trace = trace, .symbols = symbols, .arena = tpa_arena_new() };
	uint8_t *all;

	writer.cfi = tpa_zalloc(trace->module_count, sizeof(struct tpa_cfi_file *));
	writer.cfi_opened = tpa_zalloc(trace->module_count, sizeof(bool));
	make_frames(trace);
	put_frames(&writer);
	put_modules(&writer);
	put_ops(&writer);
	put_allocators(&writer);
	all = joined(&writer, length);
	for (size_t i = 0; i < trace->module_count; i++)
		tpa_cfi_close(writer.cfi[i]);
	free((void *)writer.cfi);
	free(writer.cfi_opened);
	free(writer.texts.list);
	free(writer.rest.list);
	tpa_pairs_free(&writer.numbers);
	tpa_arena_free(writer.arena);
	return all;
}
