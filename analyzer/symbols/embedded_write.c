/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "symbols/embedded.h"
#include "symbols/embedded_bytes.h"

struct writer {
	const struct tpa_trace *trace;
	struct tpa_symbols *symbols;
	struct tpa_embedded_bytes *bytes;
	struct tpa_cfi_file **cfi; /* by module */
	bool *cfi_opened;
};

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
	tpa_embedded_put_byte(writer->bytes, 1u + place.kind);
	tpa_embedded_put_byte(writer->bytes, place.has_frame_pointer);
}

static void put_frame(struct writer *writer, uint32_t number)
{
	const struct tpa_frame *frame = &writer->trace->frames[number];
	const struct tpa_symbol *symbol = tpa_symbols_frame(writer->symbols, number);

	tpa_embedded_put_locations(writer->bytes, symbol->locations, symbol->count);
	if (is_untabled(frame))
		put_cfi(writer, frame);
	else
		tpa_embedded_put_byte(writer->bytes, 0);
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
	tpa_embedded_put(writer->bytes, count);
	for (size_t i = 0; i < count; i++) {
		const struct tpa_frame *frame = &trace->frames[order[i]];
		uint64_t address = tpa_frame_address(frame);

		tpa_embedded_put_place(writer->bytes, frame->module ? frame->module->id : 0, address, last);
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

	tpa_embedded_put(writer->bytes, trace->module_count);
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct tpa_module *module = &trace->modules[i];

		tpa_embedded_put(writer->bytes, module->id);
		tpa_embedded_put_byte(writer->bytes, tpa_symbols_module_state(writer->symbols, module));
		tpa_embedded_put_byte(writer->bytes, tpa_symbols_module_is_named(writer->symbols, module));
	}
}

static void put_ops(struct writer *writer)
{
	const struct tpa_trace *trace = writer->trace;
	size_t end = trace->regions ? trace->regions : trace->op_count;
	uint64_t count = 0;

	for (size_t i = 1; i < end; i++)
		count += trace->ops[i].name != NULL;
	tpa_embedded_put(writer->bytes, count);
	for (size_t i = 1; i < end; i++) {
		if (!trace->ops[i].name)
			continue;
		tpa_embedded_put(writer->bytes, i);
		tpa_embedded_put_text(writer->bytes, trace->ops[i].name);
		tpa_embedded_put_byte(writer->bytes, trace->ops[i].has_symbol);
	}
}

static void put_allocators(struct writer *writer)
{
	const struct tpa_trace *trace = writer->trace;

	tpa_embedded_put(writer->bytes, trace->unseen_count);
	for (size_t i = 0; i < trace->unseen_count; i++) {
		const struct tpa_unseen_allocator *unseen = &trace->unseen[i];

		tpa_embedded_put_text(writer->bytes, unseen->name);
		tpa_embedded_put_text(writer->bytes, unseen->symbol);
		tpa_embedded_put_text(writer->bytes, unseen->module);
		tpa_embedded_put_text(writer->bytes, unseen->setting);
		tpa_embedded_put_byte(writer->bytes, unseen->pool);
	}
}

uint8_t *tpa_embedded_make(const struct tpa_trace *trace, struct tpa_symbols *symbols, const struct tpa_rename *rename,
			   size_t *length)
{
	struct writer writer = { .trace = trace, .symbols = symbols, .bytes = tpa_embedded_begin(rename) };

	writer.cfi = tpa_zalloc(trace->module_count, sizeof(struct tpa_cfi_file *));
	writer.cfi_opened = tpa_zalloc(trace->module_count, sizeof(bool));
	make_frames(trace);
	put_frames(&writer);
	put_modules(&writer);
	put_ops(&writer);
	put_allocators(&writer);
	for (size_t i = 0; i < trace->module_count; i++)
		tpa_cfi_close(writer.cfi[i]);
	free((void *)writer.cfi);
	free(writer.cfi_opened);
	return tpa_embedded_end(writer.bytes, length);
}
