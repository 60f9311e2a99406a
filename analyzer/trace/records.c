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

void tpa_tables_damage(struct tpa_tables *tables, const uint8_t *record, uint64_t lost, const char *reason)
{
	/* Numbers that were given out and can't be looked up: their records are missing, which is said otherwise. */
	if (tables->impl->header.tables_from && strcmp(reason, TPA_BAD_NUMBER) == 0)
		return;
	tpa_damage_add(&tables->impl->trace, tables->offset + (uint64_t)(record - tables->start), lost, reason);
}

bool tpa_tables_extend(void *list, size_t *count, size_t *room, size_t need, size_t size)
{
	char *bytes;

	if (need <= *count)
		return true;
	tpa_grow(list, room, need, size);
	memcpy(&bytes, list, sizeof(bytes));
	memset(bytes + *count * size, 0, (need - *count) * size);
	*count = need;
	return true;
}

bool tpa_path_is_collector(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libtprof", 8) == 0;
}

/* One block for both: path, NUL, build-id. */
static bool set_names(struct tpa_module *module, const uint8_t *id, uint8_t id_length, const uint8_t *path,
		      size_t length)
{
	char *text = malloc(length + 1 + id_length);

	if (!text)
		return false;
	memcpy(text, path, length);
	text[length] = 0;
	memcpy(text + length + 1, id, id_length);
	module->path = text;
	module->collector = tpa_path_is_collector(text);
	module->build_id = (const uint8_t *)text + length + 1;
	module->build_id_length = id_length;
	return true;
}

static bool read_module(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	struct tpa_module module = { 0 };
	uint64_t id = tpa_uvarint(&at);
	uint8_t id_length;

	module.bias = tpa_uvarint(&at);
	module.start = tpa_uvarint(&at);
	module.end = tpa_uvarint(&at);
	module.loaded_ticks = tpa_uvarint(&at);
	id_length = *at++;
	if (!tpa_read_ok(body, at, end) || id_length > end - at) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_CUT_RECORD);
		return true;
	}
	if (!id || id >= tables->impl->number_limit) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_BAD_NUMBER);
		return true;
	}
	module.id = (uint32_t)id;
	if (!tpa_reserve(&trace->modules, &tables->module_room, trace->module_count + 1, sizeof(module)) ||
	    !set_names(&module, at, id_length, at + id_length, (size_t)(end - at) - id_length))
		return false;
	trace->modules[trace->module_count++] = module;
	return true;
}

bool tpa_tables_frame(struct tpa_tables *tables, uint64_t number, bool *taken)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t count = trace->frame_count;

	*taken = number < count && (trace->frames[number].pc || trace->frames[number].code);
	return tpa_tables_extend(&trace->frames, &trace->frame_count, &tables->frame_room, number + 1,
				 sizeof(*trace->frames)) &&
	       tpa_tables_extend(&tables->frame_module, &count, &tables->frame_module_room, number + 1,
				 sizeof(uint32_t));
}

static bool read_frame(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), module = tpa_uvarint(&at), offset = tpa_uvarint(&at);
	uint8_t flags = *at++;
	bool taken;

	if (!tpa_read_ok(body, at, end)) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_CUT_RECORD);
		return true;
	}
	if (!number || number >= tables->impl->number_limit || module >= tables->impl->number_limit) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_BAD_NUMBER);
		return true;
	}
	if (!tpa_tables_frame(tables, number, &taken))
		return false;
	if (taken) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_NUMBER_TWICE);
		return true;
	}
	trace->frames[number] = (struct tpa_frame){ .pc = offset, .flags = flags };
	tables->frame_module[number] = (uint32_t)module;
	return true;
}

char *tpa_tables_texts(const void *first, size_t first_length, const void *second, size_t second_length)
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

static bool set_op_names(struct tpa_op *op, const void *category, size_t category_length, const void *name,
			 size_t name_length)
{
	char *text;

	if (!name_length) {
		name = TPA_UNNAMED;
		name_length = strlen(TPA_UNNAMED);
	}
	text = tpa_tables_texts(name, name_length, category, category_length);
	if (!text)
		return false;
	op->name = text;
	op->category = text + name_length + 1;
	return true;
}

bool tpa_trace_rename_op(struct tpa_trace *trace, size_t op, const char *name)
{
	struct tpa_op old = trace->ops[op];

	if (!set_op_names(&trace->ops[op], old.category, strlen(old.category), name, strlen(name)))
		return false;
	free((void *)(uintptr_t)old.name);
	return true;
}

/* OP, and OP_CODE, whose name can only be found when symbols are: until then it is the frame's number. */
static bool read_op(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end, bool code)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at, *name;
	char text[32];
	uint64_t frame = 0;
	uint64_t number = tpa_uvarint(&at);
	uint8_t origin = *at++, category_length = *at++;

	if (!tpa_read_ok(body, at, end) || category_length > end - at) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_CUT_RECORD);
		return true;
	}
	name = at + category_length;
	if (code) {
		const uint8_t *behind = name;

		frame = tpa_uvarint(&behind);
		snprintf(text, sizeof(text), "frame %" PRIu64, frame);
		name = (const uint8_t *)text;
	}
	if (!number || number >= tables->impl->number_limit || frame >= tables->impl->number_limit) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_BAD_NUMBER);
		return true;
	}
	if (number < trace->op_count && trace->ops[number].name) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_NUMBER_TWICE);
		return true;
	}
	if (!tpa_tables_extend(&trace->ops, &trace->op_count, &tables->op_room, number + 1, sizeof(*trace->ops)))
		return false;
	trace->ops[number].origin = origin;
	trace->ops[number].frame = (uint32_t)frame;
	return set_op_names(&trace->ops[number], at, category_length, name,
			    code ? strlen(text) : (size_t)(end - at) - category_length);
}

/* Readers may look at what is behind a number. */
static bool keep_tensors(struct tpa_op *op, const uint8_t *at, const uint8_t *end)
{
	size_t length = (size_t)(end - at);
	uint8_t *copy = calloc(1, length + TPA_PADDING);

	if (!copy)
		return false;
	memcpy(copy, at, length);
	op->tensors = copy;
	op->tensors_length = length;
	return true;
}

static bool read_shape(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at);
	char *text = NULL;

	if (!tpa_read_ok(body, at, end) || !number || number >= tables->impl->number_limit) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record),
				  tpa_read_ok(body, at, end) ? TPA_BAD_NUMBER : TPA_CUT_RECORD);
		return true;
	}
	if (!tpa_tables_extend(&trace->ops, &trace->op_count, &tables->op_room, number + 1, sizeof(*trace->ops)) ||
	    !tpa_shape_text(at, end, &text))
		return false;
	if (!text || trace->ops[number].shape) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), text ? TPA_NUMBER_TWICE : TPA_CUT_RECORD);
		free(text);
		return true;
	}
	trace->ops[number].shape = text;
	return keep_tensors(&trace->ops[number], at, end);
}

/* Which module it is comes out when all are known. */
static bool read_unload(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	struct tpa_unload unload = { .module = tpa_uvarint(&at), .ticks = tpa_uvarint(&at) };

	if (!tpa_read_ok(body, at, end)) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_CUT_RECORD);
		return true;
	}
	tpa_grow(&tables->unloads, &tables->unload_room, tables->unload_count + 1, sizeof(unload));
	tables->unloads[tables->unload_count++] = unload;
	return true;
}

/* A record with a length. False: no memory. */
static bool read_long(struct tpa_tables *tables, const uint8_t *record)
{
	unsigned type = *record >> 2;
	const uint8_t *body = record + 1;
	uint64_t length = tpa_uvarint(&body);
	bool good, bad = false;

	if (!tpa_read_ok(record, body, tables->end) || length > (uint64_t)(tables->end - body) || !type) {
		tpa_tables_damage(tables, record, (uint64_t)(tables->end - record),
				  type ? TPA_CUT_RECORD : "zeros where a record should begin");
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
		return tpa_tables_code(tables, record, body, tables->at);
	case TPROF_TABLE_PYTHON:
		return tpa_tables_python(tables, record, body, tables->at);
	case TPROF_TABLE_OP_CODE:
		return read_op(tables, record, body, tables->at, true);
	case TPROF_TABLE_SHAPE:
		return read_shape(tables, record, body, tables->at);
	case TPROF_TABLE_HOOKS:
		good = tpa_fact_hooks(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_VALUE:
		good = tpa_fact_value(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_JITDUMP:
		good = tpa_fact_jitdump(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_FILE:
		good = tpa_fact_file(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_REACH:
		good = tpa_fact_reach(&tables->impl->trace, body, tables->at, &bad);
		break;
	case TPROF_TABLE_COUNTER:
		good = tpa_fact_counter(&tables->impl->trace, body, tables->at, &bad);
		break;
	default:
		return true;
	}
	if (bad)
		tpa_tables_damage(tables, record, length, TPA_CUT_RECORD);
	return good;
}

/* The frames of a NODES record, whose numbers are known to be in range. */
static void read_chain(struct tpa_tables *tables, const uint8_t *record, uint64_t first, uint64_t parent,
		       uint64_t count)
{
	struct tpa_node *nodes = tables->impl->trace.nodes;
	uint64_t number = first;

	for (; number < first + count && tpa_read_ok(tables->start, tables->at, tables->end); number++) {
		uint64_t frame = tpa_uvarint(&tables->at);

		if (!tpa_read_ok(tables->start, tables->at, tables->end))
			break;
		if (!frame || frame >= tables->impl->number_limit) {
			tpa_tables_damage(tables, record, 0, TPA_BAD_NUMBER);
			frame = 0; /* as an alias of its parent it hurts nobody */
		}
		if (nodes[number].frame)
			tpa_tables_damage(tables, record, 0, TPA_NUMBER_TWICE);
		else
			nodes[number] = (struct tpa_node){ (uint32_t)parent, (uint32_t)frame };
		if (frame >= tables->frame_top)
			tables->frame_top = frame + 1;
		parent = number;
	}
}

static bool read_nodes(struct tpa_tables *tables, const uint8_t *record)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *at = record + 1;
	uint64_t count = *record >> 2, first, parent;

	if (!count)
		count = tpa_uvarint(&at);
	first = tables->expected + tpa_svarint(&at);
	parent = tpa_uvarint(&at);
	if (!tpa_read_ok(record, at, tables->end) || count > (uint64_t)(tables->end - at)) {
		tpa_tables_damage(tables, record, (uint64_t)(tables->end - record), TPA_CUT_RECORD);
		tables->at = tables->end;
		return true;
	}
	parent = parent & 1 ? parent >> 1 : first - (parent >> 1);
	tables->at = at;
	tables->expected = first + count;
	if (first < TPROF_NODE_FIRST || first >= tables->impl->number_limit ||
	    count > tables->impl->number_limit - first || parent >= first) {
		tpa_tables_damage(tables, record, (uint64_t)(tables->end - record), TPA_BAD_NUMBER);
		tables->at = tables->end;
		return true;
	}
	if (!tpa_tables_extend(&trace->nodes, &trace->node_count, &tables->node_room, first + count,
			       sizeof(*trace->nodes)))
		return false;
	read_chain(tables, record, first, parent, count);
	if (!tpa_read_ok(tables->start, tables->at, tables->end)) {
		tpa_tables_damage(tables, record, (uint64_t)(tables->end - record), TPA_CUT_RECORD);
		tables->at = tables->end;
	}
	return true;
}

/* All records of one chunk that lies in memory with padding behind it. */
static bool read_records(struct tpa_tables *tables)
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
			good = tpa_tables_join(tables, record);
		} else {
			tpa_tables_damage(tables, record, (uint64_t)(tables->end - record),
					  "unknown class of a table record");
			break;
		}
	}
	return good;
}

static bool read_chunk(struct tpa_tables *tables, const struct tpa_chunk *chunk)
{
	uint8_t *buffer = malloc(chunk->committed + TPA_PADDING);
	size_t got;
	bool good;

	if (!buffer)
		return false;
	tables->offset = chunk->offset + sizeof(struct tprof_chunk);
	got = tpa_read_at(tables->impl->fd, buffer, chunk->committed, tables->offset);
	if (got < chunk->committed)
		tpa_damage_add(&tables->impl->trace, tables->offset + got, chunk->committed - got, "can't be read");
	memset(buffer + got, 0, chunk->committed + TPA_PADDING - got);
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
static void reserve_nodes(struct tpa_tables *tables)
{
	size_t size = sizeof(*tables->impl->trace.nodes), most = (size_t)tables->impl->number_limit;

	if (most < NODES_MANY)
		return;
	tables->impl->trace.nodes = malloc(most * size);
	tables->node_room = tables->impl->trace.nodes ? most : 0;
}

bool tpa_tables_read(struct tpa_trace_impl *impl)
{
	struct tpa_tables tables = { .impl = impl };
	struct tpa_trace *trace = &impl->trace;
	bool good;

	reserve_nodes(&tables);
	good = tpa_tables_extend(&trace->nodes, &trace->node_count, &tables.node_room, TPROF_NODE_FIRST,
				 sizeof(*trace->nodes)) &&
	       tpa_tables_extend(&trace->frames, &trace->frame_count, &tables.frame_room, 1, sizeof(*trace->frames));
	for (size_t i = 0; good && i < impl->tables.count; i++)
		good = read_chunk(&tables, &impl->tables.list[i]);
	good = good && tpa_tables_resolve(&tables);
	free(tables.joins);
	free(tables.frame_module);
	free(tables.unloads);
	return good;
}
