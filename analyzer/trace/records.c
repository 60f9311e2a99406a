/* SPDX-License-Identifier: Apache-2.0 */
/* The table chunks: modules, frames, stack nodes, ops (Python's are read in python.c). Read as a whole when a trace is opened. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/shapes.h"
#include "trace/facts.h"
#include "trace/records.h"
#include "base/varint.h"
#include "base/memory.h"

#define NODES_MANY ((size_t)1 << 20)

void tp_tables_damage(struct tp_tables *tables, const uint8_t *record, uint64_t lost, const char *reason)
{
	/* Numbers that were given out and can't be looked up: their records are missing, which is said otherwise. */
	if (tables->impl->header.tables_from && strcmp(reason, TP_BAD_NUMBER) == 0)
		return;
	tp_damage_add(&tables->impl->trace, tables->offset + (uint64_t)(record - tables->start), lost, reason);
}

bool tp_tables_extend(void *list, size_t *count, size_t *room, size_t need, size_t size)
{
	char *bytes;

	if (need <= *count)
		return true;
	tp_grow(list, room, need, size);
	memcpy(&bytes, list, sizeof(bytes));
	memset(bytes + *count * size, 0, (need - *count) * size);
	*count = need;
	return true;
}

bool tp_path_is_collector(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libtprof", 8) == 0;
}

/* One block for both: path, NUL, build-id. */
static bool set_names(struct tp_module *module, const uint8_t *id, uint8_t id_length, const uint8_t *path,
		      size_t length)
{
	char *text = malloc(length + 1 + id_length);

	if (!text)
		return false;
	memcpy(text, path, length);
	text[length] = 0;
	memcpy(text + length + 1, id, id_length);
	module->path = text;
	module->collector = tp_path_is_collector(text);
	module->build_id = (const uint8_t *)text + length + 1;
	module->build_id_length = id_length;
	return true;
}

static bool read_module(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tp_module module = { 0 };
	uint64_t id = tp_uvarint(&at);
	uint8_t id_length;

	module.bias = tp_uvarint(&at);
	module.start = tp_uvarint(&at);
	module.end = tp_uvarint(&at);
	module.loaded_ticks = tp_uvarint(&at);
	id_length = *at++;
	if (!tp_read_ok(body, at, end) || id_length > end - at) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	if (!id || id >= tables->impl->number_limit) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_BAD_NUMBER);
		return true;
	}
	module.id = (uint32_t)id;
	if (!tp_reserve(&trace->modules, &tables->module_room, trace->module_count + 1, sizeof(module)) ||
	    !set_names(&module, at, id_length, at + id_length, (size_t)(end - at) - id_length))
		return false;
	trace->modules[trace->module_count++] = module;
	return true;
}

bool tp_tables_frame(struct tp_tables *tables, uint64_t number, bool *taken)
{
	struct tp_trace *trace = &tables->impl->trace;
	size_t count = trace->frame_count;

	*taken = number < count && (trace->frames[number].pc || trace->frames[number].code);
	return tp_tables_extend(&trace->frames, &trace->frame_count, &tables->frame_room, number + 1,
				sizeof(*trace->frames)) &&
	       tp_tables_extend(&tables->frame_module, &count, &tables->frame_module_room, number + 1,
				sizeof(uint32_t));
}

static bool read_frame(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tp_uvarint(&at), module = tp_uvarint(&at), offset = tp_uvarint(&at);
	uint8_t flags = *at++;
	bool taken;

	if (!tp_read_ok(body, at, end)) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	if (!number || number >= tables->impl->number_limit || module >= tables->impl->number_limit) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_BAD_NUMBER);
		return true;
	}
	if (!tp_tables_frame(tables, number, &taken))
		return false;
	if (taken) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_NUMBER_TWICE);
		return true;
	}
	trace->frames[number] = (struct tp_frame){ .pc = offset, .flags = flags };
	tables->frame_module[number] = (uint32_t)module;
	return true;
}

char *tp_tables_texts(const void *first, size_t first_length, const void *second, size_t second_length)
{
	char *text = malloc(first_length + 1 + second_length + 1);

	if (!text)
		return NULL;
	memcpy(text, first, first_length);
	text[first_length] = 0;
	memcpy(text + first_length + 1, second, second_length);
	text[first_length + 1 + second_length] = 0;
	return text;
}

static bool set_op_names(struct tp_op *op, const void *category, size_t category_length, const void *name,
			 size_t name_length)
{
	char *text;

	if (!name_length) {
		name = TP_UNNAMED;
		name_length = strlen(TP_UNNAMED);
	}
	text = tp_tables_texts(name, name_length, category, category_length);
	if (!text)
		return false;
	op->name = text;
	op->category = text + name_length + 1;
	return true;
}

bool tp_trace_rename_op(struct tp_trace *trace, size_t op, const char *name)
{
	struct tp_op old = trace->ops[op];

	if (!set_op_names(&trace->ops[op], old.category, strlen(old.category), name, strlen(name)))
		return false;
	free((void *)(uintptr_t)old.name);
	return true;
}

/* OP, and OP_CODE, whose name can only be found when symbols are: until then it is the frame's number. */
static bool read_op(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end, bool code)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *body = at, *name;
	char text[32];
	uint64_t frame = 0;
	uint64_t number = tp_uvarint(&at);
	uint8_t origin = *at++, category_length = *at++;

	if (!tp_read_ok(body, at, end) || category_length > end - at) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	name = at + category_length;
	if (code) {
		const uint8_t *behind = name;

		frame = tp_uvarint(&behind);
		snprintf(text, sizeof(text), "frame %" PRIu64, frame);
		name = (const uint8_t *)text;
	}
	if (!number || number >= tables->impl->number_limit || frame >= tables->impl->number_limit) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_BAD_NUMBER);
		return true;
	}
	if (number < trace->op_count && trace->ops[number].name) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_NUMBER_TWICE);
		return true;
	}
	if (!tp_tables_extend(&trace->ops, &trace->op_count, &tables->op_room, number + 1, sizeof(*trace->ops)))
		return false;
	trace->ops[number].origin = origin;
	trace->ops[number].frame = (uint32_t)frame;
	return set_op_names(&trace->ops[number], at, category_length, name,
			    code ? strlen(text) : (size_t)(end - at) - category_length);
}

/* Readers may look at what is behind a number. */
static bool keep_tensors(struct tp_op *op, const uint8_t *at, const uint8_t *end)
{
	size_t length = (size_t)(end - at);
	uint8_t *copy = calloc(1, length + TP_PADDING);

	if (!copy)
		return false;
	memcpy(copy, at, length);
	op->tensors = copy;
	op->tensors_length = length;
	return true;
}

static bool read_shape(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tp_uvarint(&at);
	char *text = NULL;

	if (!tp_read_ok(body, at, end) || !number || number >= tables->impl->number_limit) {
		tp_tables_damage(tables, record, (uint64_t)(end - record),
				 tp_read_ok(body, at, end) ? TP_BAD_NUMBER : TP_CUT_RECORD);
		return true;
	}
	if (!tp_tables_extend(&trace->ops, &trace->op_count, &tables->op_room, number + 1, sizeof(*trace->ops)) ||
	    !tp_shape_text(at, end, &text))
		return false;
	if (!text || trace->ops[number].shape) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), text ? TP_NUMBER_TWICE : TP_CUT_RECORD);
		free(text);
		return true;
	}
	trace->ops[number].shape = text;
	return keep_tensors(&trace->ops[number], at, end);
}

/* Which module it is comes out when all are known. */
static bool read_unload(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	struct tp_unload unload = { .module = tp_uvarint(&at), .ticks = tp_uvarint(&at) };

	if (!tp_read_ok(body, at, end)) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	tp_grow(&tables->unloads, &tables->unload_room, tables->unload_count + 1, sizeof(unload));
	tables->unloads[tables->unload_count++] = unload;
	return true;
}

/* A record with a length. False: no memory. */
static bool read_long(struct tp_tables *tables, const uint8_t *record)
{
	unsigned type = *record >> 2;
	const uint8_t *body = record + 1;
	uint64_t length = tp_uvarint(&body);
	bool good, bad = false;

	if (!tp_read_ok(record, body, tables->end) || length > (uint64_t)(tables->end - body) || !type) {
		tp_tables_damage(tables, record, (uint64_t)(tables->end - record),
				 type ? TP_CUT_RECORD : "zeros where a record should begin");
		tables->at = tables->end;
		return true;
	}
	tables->at = body + length;
	switch (type) {
	case TPROF_TABLE_MODULE:
		return read_module(tables, record, body, tables->at);
	case TPROF_TABLE_UNLOAD:
		return read_unload(tables, record, body, tables->at);
	case TPROF_TABLE_FRAME:
		return read_frame(tables, record, body, tables->at);
	case TPROF_TABLE_OP:
		return read_op(tables, record, body, tables->at, false);
	case TPROF_TABLE_CODE:
		return tp_tables_code(tables, record, body, tables->at);
	case TPROF_TABLE_PYTHON:
		return tp_tables_python(tables, record, body, tables->at);
	case TPROF_TABLE_OP_CODE:
		return read_op(tables, record, body, tables->at, true);
	case TPROF_TABLE_SHAPE:
		return read_shape(tables, record, body, tables->at);
	case TPROF_TABLE_HOOKS:
		good = tp_fact_hooks(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_VALUE:
		good = tp_fact_value(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_JITDUMP:
		good = tp_fact_jitdump(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_FILE:
		good = tp_fact_file(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_REACH:
		good = tp_fact_reach(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_COUNTER:
		good = tp_fact_counter(&tables->impl->trace, body, tables->at, &bad);
		break;
	default:
		return true;
	}
	if (bad)
		tp_tables_damage(tables, record, length, TP_CUT_RECORD);
	return good;
}

/* The frames of a NODES record, whose numbers are known to be in range. */
static void read_chain(struct tp_tables *tables, const uint8_t *record, uint64_t first, uint64_t parent, uint64_t count)
{
	struct tp_node *nodes = tables->impl->trace.nodes;
	uint64_t number = first;

	for (; number < first + count && tp_read_ok(tables->start, tables->at, tables->end); number++) {
		uint64_t frame = tp_uvarint(&tables->at);

		if (!tp_read_ok(tables->start, tables->at, tables->end))
			break;
		if (!frame || frame >= tables->impl->number_limit) {
			tp_tables_damage(tables, record, 0, TP_BAD_NUMBER);
			frame = 0; /* as an alias of its parent it hurts nobody */
		}
		if (nodes[number].frame)
			tp_tables_damage(tables, record, 0, TP_NUMBER_TWICE);
		else
			nodes[number] = (struct tp_node){ (uint32_t)parent, (uint32_t)frame };
		if (frame >= tables->frame_top)
			tables->frame_top = frame + 1;
		parent = number;
	}
}

static bool read_nodes(struct tp_tables *tables, const uint8_t *record)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *at = record + 1;
	uint64_t count = *record >> 2, first, parent;

	if (!count)
		count = tp_uvarint(&at);
	first = tables->expected + tp_svarint(&at);
	parent = tp_uvarint(&at);
	if (!tp_read_ok(record, at, tables->end) || count > (uint64_t)(tables->end - at)) {
		tp_tables_damage(tables, record, (uint64_t)(tables->end - record), TP_CUT_RECORD);
		tables->at = tables->end;
		return true;
	}
	parent = parent & 1 ? parent >> 1 : first - (parent >> 1);
	tables->at = at;
	tables->expected = first + count;
	if (first < TPROF_NODE_FIRST || first >= tables->impl->number_limit ||
	    count > tables->impl->number_limit - first || parent >= first) {
		tp_tables_damage(tables, record, (uint64_t)(tables->end - record), TP_BAD_NUMBER);
		tables->at = tables->end;
		return true;
	}
	if (!tp_tables_extend(&trace->nodes, &trace->node_count, &tables->node_room, first + count,
			      sizeof(*trace->nodes)))
		return false;
	read_chain(tables, record, first, parent, count);
	if (!tp_read_ok(tables->start, tables->at, tables->end)) {
		tp_tables_damage(tables, record, (uint64_t)(tables->end - record), TP_CUT_RECORD);
		tables->at = tables->end;
	}
	return true;
}

/* All records of one chunk that lies in memory with padding behind it. */
static bool read_records(struct tp_tables *tables)
{
	bool good = true;

	tables->at = tables->start;
	tables->expected = tables->python = 0;
	while (good && tables->at < tables->end) {
		const uint8_t *record = tables->at;

		if ((*record & 3) == TPROF_CLASS_LONG) {
			good = read_long(tables, record);
		} else if ((*record & 3) == TPROF_CLASS_NODES) {
			good = read_nodes(tables, record);
		} else if ((*record & 3) == TPROF_CLASS_JOIN) {
			good = tp_tables_join(tables, record);
		} else {
			tp_tables_damage(tables, record, (uint64_t)(tables->end - record),
					 "unknown class of a table record");
			break;
		}
	}
	return good;
}

static bool read_chunk(struct tp_tables *tables, const struct tp_chunk *chunk)
{
	uint8_t *buffer = malloc(chunk->committed + TP_PADDING);
	size_t got;
	bool good;

	if (!buffer)
		return false;
	tables->offset = chunk->offset + sizeof(struct tprof_chunk);
	got = tp_read_at(tables->impl->fd, buffer, chunk->committed, tables->offset);
	if (got < chunk->committed)
		tp_damage_add(&tables->impl->trace, tables->offset + got, chunk->committed - got, "can't be read");
	memset(buffer + got, 0, chunk->committed + TP_PADDING - got);
	tables->start = buffer;
	tables->end = buffer + got;
	good = read_records(tables);
	free(buffer);
	return good;
}

/*
 * Room for all nodes that the file can have, so that the list, the longest of all, need not move as it grows: pages that it
 * does not come to cost nothing. Where there is no room for so many, or they are few, it grows.
 */
static void reserve_nodes(struct tp_tables *tables)
{
	size_t size = sizeof(*tables->impl->trace.nodes), most = (size_t)tables->impl->number_limit;

	if (most < NODES_MANY)
		return;
	tables->impl->trace.nodes = malloc(most * size);
	tables->node_room = tables->impl->trace.nodes ? most : 0;
}

bool tp_tables_read(struct tp_trace_impl *impl)
{
	struct tp_tables tables = { .impl = impl };
	struct tp_trace *trace = &impl->trace;
	bool good;

	reserve_nodes(&tables);
	good = tp_tables_extend(&trace->nodes, &trace->node_count, &tables.node_room, TPROF_NODE_FIRST,
				sizeof(*trace->nodes)) &&
	       tp_tables_extend(&trace->frames, &trace->frame_count, &tables.frame_room, 1, sizeof(*trace->frames));
	for (size_t i = 0; good && i < impl->tables.count; i++)
		good = read_chunk(&tables, &impl->tables.list[i]);
	good = good && tp_tables_resolve(&tables);
	free(tables.joins);
	free(tables.frame_module);
	free(tables.unloads);
	return good;
}
