/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the table chunks: modules, frames, stack nodes and ops. Python's records are read in python.c, those about the whole
 * run in facts.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/shapes.h"
#include "trace/records.h"
#include "base/varint.h"
#include "base/memory.h"

#define NODES_MANY ((size_t)1 << 20)

void tpa_tables_damage(struct tpa_tables *tables, const uint8_t *record, uint64_t lost, const char *reason)
{
	/* With a full disk, records of numbers that were given out are missing, which reports say elsewhere. */
	if (tables->impl->header.tables_from && strcmp(reason, TPA_BAD_NUMBER) == 0)
		return;
	tpa_damage_add(&tables->impl->trace, tables->offset + (uint64_t)(record - tables->start), lost, reason);
}

bool tpa_path_is_collector(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libtprof", 8) == 0;
}

/* Copies the path and the build ID into one block, which free() of the path releases. */
static void set_names(struct tpa_module *module, const uint8_t *id, uint8_t id_length, const uint8_t *path,
		      size_t length)
{
	module->path = tpa_tables_texts(path, length, id, id_length);
	module->collector = tpa_path_is_collector(module->path);
	module->build_id = (const uint8_t *)module->path + length + 1;
	module->build_id_length = id_length;
}

static const char *read_module(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
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
	if (!tpa_read_ok(body, at, end) || id_length > end - at)
		return TPA_CUT_RECORD;
	if (!tpa_tables_is_number(tables, id))
		return TPA_BAD_NUMBER;
	module.id = (uint32_t)id;
	set_names(&module, at, id_length, at + id_length, (size_t)(end - at) - id_length);
	*TPA_APPEND(trace->modules, trace->module_count, tables->module_room) = module;
	return NULL;
}

bool tpa_tables_frame(struct tpa_tables *tables, uint64_t number)
{
	struct tpa_trace *trace = &tables->impl->trace;
	size_t count = trace->frame_count;

	if (number < count && (trace->frames[number].pc || trace->frames[number].code))
		return false;
	tpa_extend(&trace->frames, &trace->frame_count, &tables->frame_room, number + 1, sizeof(*trace->frames));
	tpa_extend(&tables->frame_module, &count, &tables->frame_module_room, number + 1, sizeof(uint32_t));
	return true;
}

static const char *read_frame(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), module = tpa_uvarint(&at), offset = tpa_uvarint(&at);
	uint8_t flags = *at++;

	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	if (!tpa_tables_is_number(tables, number) || module >= tables->impl->number_limit)
		return TPA_BAD_NUMBER;
	if (!tpa_tables_frame(tables, number))
		return TPA_NUMBER_TWICE;
	tables->impl->trace.frames[number] = (struct tpa_frame){ .pc = offset, .flags = flags };
	tables->frame_module[number] = (uint32_t)module;
	return NULL;
}

char *tpa_tables_texts(const void *first, size_t first_length, const void *second, size_t second_length)
{
	char *text = tpa_zalloc(first_length + 1 + second_length + 1, 1);

	memcpy(text, first, first_length);
	memcpy(text + first_length + 1, second, second_length);
	return text;
}

static void set_op_names(struct tpa_op *op, const void *category, size_t category_length, const void *name,
			 size_t name_length)
{
	if (!name_length) {
		name = TPA_UNNAMED;
		name_length = strlen(TPA_UNNAMED);
	}
	op->name = tpa_tables_texts(name, name_length, category, category_length);
	op->category = op->name + name_length + 1;
}

void tpa_trace_rename_op(struct tpa_trace *trace, size_t op, const char *name)
{
	struct tpa_op old = trace->ops[op];

	set_op_names(&trace->ops[op], old.category, strlen(old.category), name, strlen(name));
	free((void *)(uintptr_t)old.name);
}

/* `code`: the record has a frame in place of a name. Until symbols are known, the frame's number is the name. */
static const char *read_named_op(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end, bool code)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at, *name;
	char text[32];
	uint64_t frame = 0;
	uint64_t number = tpa_uvarint(&at);
	uint8_t origin = *at++, category_length = *at++;

	if (!tpa_read_ok(body, at, end) || category_length > end - at)
		return TPA_CUT_RECORD;
	name = at + category_length;
	if (code) {
		const uint8_t *behind = name;

		frame = tpa_uvarint(&behind);
		snprintf(text, sizeof(text), "frame %" PRIu64, frame);
		name = (const uint8_t *)text;
	}
	if (!tpa_tables_is_number(tables, number) || frame >= tables->impl->number_limit)
		return TPA_BAD_NUMBER;
	if (number < trace->op_count && trace->ops[number].name)
		return TPA_NUMBER_TWICE;
	tpa_extend(&trace->ops, &trace->op_count, &tables->op_room, number + 1, sizeof(*trace->ops));
	trace->ops[number].origin = origin;
	trace->ops[number].frame = (uint32_t)frame;
	set_op_names(&trace->ops[number], at, category_length, name,
		     code ? strlen(text) : (size_t)(end - at) - category_length);
	return NULL;
}

static const char *read_op(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	return read_named_op(tables, at, end, false);
}

static const char *read_op_code(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	return read_named_op(tables, at, end, true);
}

static const char *read_shape(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at);
	struct tpa_op *op;
	char *text;

	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	if (!tpa_tables_is_number(tables, number))
		return TPA_BAD_NUMBER;
	tpa_extend(&trace->ops, &trace->op_count, &tables->op_room, number + 1, sizeof(*trace->ops));
	op = &trace->ops[number];
	text = tpa_shape_text(at, end);
	if (!text || op->shape) {
		free(text);
		return text ? TPA_NUMBER_TWICE : TPA_CUT_RECORD;
	}
	op->shape = text;
	op->tensors_length = (size_t)(end - at);
	op->tensors = memcpy(tpa_zalloc(op->tensors_length + TPA_PADDING, 1), at, op->tensors_length);
	return NULL;
}

/* The module is looked up once all modules are known. */
static const char *read_unload(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	struct tpa_unload unload = { .module = tpa_uvarint(&at), .ticks = tpa_uvarint(&at) };

	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	*TPA_APPEND(tables->unloads, tables->unload_count, tables->unload_room) = unload;
	return NULL;
}

static tpa_read_body *const readers[] = {
	[TPROF_TABLE_MODULE] = read_module,	  [TPROF_TABLE_UNLOAD] = read_unload,
	[TPROF_TABLE_FRAME] = read_frame,	  [TPROF_TABLE_OP] = read_op,
	[TPROF_TABLE_CODE] = tpa_tables_code,	  [TPROF_TABLE_PYTHON] = tpa_tables_python,
	[TPROF_TABLE_OP_CODE] = read_op_code,	  [TPROF_TABLE_SHAPE] = read_shape,
	[TPROF_TABLE_HOOKS] = tpa_fact_hooks,	  [TPROF_TABLE_VALUE] = tpa_fact_value,
	[TPROF_TABLE_JITDUMP] = tpa_fact_jitdump, [TPROF_TABLE_FILE] = tpa_fact_file,
	[TPROF_TABLE_REACH] = tpa_fact_reach,	  [TPROF_TABLE_COUNTER] = tpa_fact_counter,
	[TPROF_TABLE_HOLDER] = tpa_fact_holder,	  [TPROF_TABLE_HELD] = tpa_fact_held,
	[TPROF_TABLE_HOLDERS] = tpa_fact_holders,
};

/* Gives up the rest of the chunk. */
static const char *give_up(struct tpa_tables *tables, const char *reason)
{
	tables->at = tables->end;
	return reason;
}

/*
 * read_long(), read_nodes() and tpa_tables_join() read the record at tables->at and move tables->at behind it, or behind what
 * is lost. Each returns why the record is damaged; NULL: it is not.
 */
static const char *read_long(struct tpa_tables *tables)
{
	const uint8_t *record = tables->at, *body = record + 1;
	unsigned type = *record >> 2;
	uint64_t length = tpa_uvarint(&body);

	if (!type)
		return give_up(tables, "zeros where a record should begin");
	if (!tpa_read_ok(record, body, tables->end) || length > (uint64_t)(tables->end - body))
		return give_up(tables, TPA_CUT_RECORD);
	tables->at = body + length;
	if (type >= sizeof(readers) / sizeof(*readers) || !readers[type])
		return NULL; /* of a later version */
	return readers[type](tables, body, tables->at);
}

/* Reads the frames of a NODES record, whose node numbers were checked. */
static void read_chain(struct tpa_tables *tables, const uint8_t *record, uint64_t first, uint64_t parent,
		       uint64_t count)
{
	struct tpa_node *nodes = tables->impl->trace.nodes;
	uint64_t number = first;

	for (; number < first + count && tpa_read_ok(tables->start, tables->at, tables->end); number++) {
		uint64_t frame = tpa_uvarint(&tables->at);

		if (!tpa_read_ok(tables->start, tables->at, tables->end))
			break;
		if (!tpa_tables_is_number(tables, frame)) {
			tpa_tables_damage(tables, record, 0, TPA_BAD_NUMBER);
			frame = 0; /* the node becomes an alias of its parent */
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

static const char *read_nodes(struct tpa_tables *tables)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *record = tables->at, *at = record + 1;
	uint64_t count = *record >> 2, first, parent;

	if (!count)
		count = tpa_uvarint(&at);
	first = tables->expected + tpa_svarint(&at);
	parent = tpa_uvarint(&at);
	if (!tpa_read_ok(record, at, tables->end) || count > (uint64_t)(tables->end - at))
		return give_up(tables, TPA_CUT_RECORD);
	parent = parent & 1 ? parent >> 1 : first - (parent >> 1);
	tables->at = at;
	tables->expected = first + count;
	if (first < TPROF_NODE_FIRST || first >= tables->impl->number_limit ||
	    count > tables->impl->number_limit - first || parent >= first)
		return give_up(tables, TPA_BAD_NUMBER);
	tpa_extend(&trace->nodes, &trace->node_count, &tables->node_room, first + count, sizeof(*trace->nodes));
	read_chain(tables, record, first, parent, count);
	return tpa_read_ok(tables->start, tables->at, tables->end) ? NULL : give_up(tables, TPA_CUT_RECORD);
}

static const char *read_record(struct tpa_tables *tables)
{
	switch (*tables->at & 3) {
	case TPROF_CLASS_LONG:
		return read_long(tables);
	case TPROF_CLASS_NODES:
		return read_nodes(tables);
	case TPROF_CLASS_JOIN:
		return tpa_tables_join(tables);
	default:
		return give_up(tables, "unknown class of a table record");
	}
}

static void read_chunk(struct tpa_tables *tables, const struct tpa_chunk *chunk)
{
	uint8_t *buffer = tpa_zalloc(chunk->committed + TPA_PADDING, 1);
	size_t got;

	tables->offset = chunk->offset + sizeof(struct tprof_chunk);
	got = tpa_read_at(tables->impl->fd, buffer, chunk->committed, tables->offset);
	if (got < chunk->committed)
		tpa_damage_add(&tables->impl->trace, tables->offset + got, chunk->committed - got, "can't be read");
	tables->start = tables->at = buffer;
	tables->end = buffer + got;
	tables->expected = tables->python = 0;
	while (tables->at < tables->end) {
		const uint8_t *record = tables->at;
		const char *reason = read_record(tables);

		if (reason)
			tpa_tables_damage(tables, record, (uint64_t)(tables->at - record), reason);
	}
	free(buffer);
}

/*
 * Reserves room for all nodes that the file can have, so that this list, the longest, need not move as it grows. Pages that
 * are never written cost nothing. Where the reservation fails, or there are few nodes, the list grows step by step.
 */
static void reserve_nodes(struct tpa_tables *tables)
{
	size_t size = sizeof(*tables->impl->trace.nodes), most = (size_t)tables->impl->number_limit;

	if (most < NODES_MANY)
		return;
	tables->impl->trace.nodes = malloc(most * size);
	tables->node_room = tables->impl->trace.nodes ? most : 0;
}

void tpa_tables_read(struct tpa_trace_impl *impl)
{
	struct tpa_tables tables = { .impl = impl };
	struct tpa_trace *trace = &impl->trace;

	reserve_nodes(&tables);
	tpa_extend(&trace->nodes, &trace->node_count, &tables.node_room, TPROF_NODE_FIRST, sizeof(*trace->nodes));
	tpa_extend(&trace->frames, &trace->frame_count, &tables.frame_room, 1, sizeof(*trace->frames));
	for (size_t i = 0; i < impl->tables.count; i++)
		read_chunk(&tables, &impl->tables.list[i]);
	tpa_tables_resolve(&tables);
	free(tables.joins);
	free(tables.frame_module);
	free(tables.unloads);
}
