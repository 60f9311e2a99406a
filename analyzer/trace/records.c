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
#define DAMAGE_MAX 256

/* With a full disk, records of numbers that were given out are missing, which reports say elsewhere. */
static bool is_expected(const struct tpa_tables *tables, const char *reason)
{
	return tables->impl->header.tables_from && strcmp(reason, TPA_BAD_NUMBER) == 0;
}

void tpa_tables_damage(struct tpa_tables *tables, const uint8_t *record, uint64_t lost, const char *reason)
{
	struct tpa_damage damage = { tables->offset + (uint64_t)(record - tables->start), lost, reason };

	if (is_expected(tables, reason))
		return;
	tpa_damage_add(&tables->impl->trace, damage.offset, damage.lost_bytes, damage.reason);
	if (tables->damage_count < DAMAGE_MAX)
		*TPA_APPEND(tables->damage, tables->damage_count, tables->damage_room) = damage;
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
	*TPA_APPEND(tables->modules, tables->module_count, tables->module_room) = module;
	return NULL;
}

const char *tpa_tables_frame(struct tpa_tables *tables, uint64_t number, struct tpa_frame_record record)
{
	if (!tpa_tables_is_number(tables, number))
		return TPA_BAD_NUMBER;
	if (number < tables->frame_count && (tables->frames[number].pc || tables->frames[number].code))
		return TPA_NUMBER_TWICE;
	tpa_extend(&tables->frames, &tables->frame_count, &tables->frame_room, number + 1, sizeof(*tables->frames));
	tables->frames[number] = record;
	return NULL;
}

static const char *read_frame(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), module = tpa_uvarint(&at), offset = tpa_uvarint(&at);
	uint8_t flags = *at++;
	const char *reason;

	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	if (module >= tables->impl->number_limit)
		return TPA_BAD_NUMBER;
	reason = tpa_tables_frame(
		tables, number, (struct tpa_frame_record){ .pc = offset, .module = (uint32_t)module, .flags = flags });
	if (reason)
		return reason;
	if (module)
		*TPA_APPEND(tables->frame_waits, tables->frame_wait_count, tables->frame_wait_room) =
			(struct tpa_wait){ .frame = (uint32_t)number };
	else
		tables->impl->has_jit = true;
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
	if (frame)
		*TPA_APPEND(tables->op_waits, tables->op_wait_count, tables->op_wait_room) =
			(struct tpa_wait){ (uint32_t)number, (uint32_t)frame };
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
	[TPROF_TABLE_HOLDERS] = tpa_fact_holders, [TPROF_TABLE_COMMUNICATOR] = tpa_fact_communicator,
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
	struct tpa_node_record *nodes = tables->nodes;
	uint64_t number = first;

	for (; number < first + count && tpa_read_ok(tables->start, tables->at, tables->end); number++) {
		uint64_t frame = tpa_uvarint(&tables->at);

		if (!tpa_read_ok(tables->start, tables->at, tables->end))
			break;
		if (!tpa_tables_is_number(tables, frame)) {
			tpa_tables_damage(tables, record, 0, TPA_BAD_NUMBER);
			frame = 0; /* the node becomes an alias of its parent */
		}
		if (!nodes[number].frame)
			nodes[number] = (struct tpa_node_record){ (uint32_t)parent, (uint32_t)frame };
		else if (nodes[number].frame != frame || nodes[number].parent != parent)
			tpa_tables_damage(tables, record, 0, TPA_NUMBER_TWICE);
		parent = number;
	}
}

static const char *read_nodes(struct tpa_tables *tables)
{
	const uint8_t *record = tables->at, *at = record + 1;
	uint64_t count = *record >> 2, first, parent;

	if (!count)
		count = tpa_uvarint(&at);
	first = tables->place->expected + tpa_svarint(&at);
	parent = tpa_uvarint(&at);
	if (!tpa_read_ok(record, at, tables->end) || count > (uint64_t)(tables->end - at))
		return give_up(tables, TPA_CUT_RECORD);
	parent = parent & 1 ? parent >> 1 : first - (parent >> 1);
	tables->at = at;
	if (first < TPROF_NODE_FIRST || first >= tables->impl->number_limit ||
	    count > tables->impl->number_limit - first || parent >= first)
		return give_up(tables, TPA_BAD_NUMBER);
	tpa_extend(&tables->nodes, &tables->node_count, &tables->node_room, first + count, sizeof(*tables->nodes));
	read_chain(tables, record, first, parent, count);
	if (!tpa_read_ok(tables->start, tables->at, tables->end))
		return give_up(tables, TPA_CUT_RECORD);
	tables->place->expected = first + count;
	return NULL;
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

/* How far the chunk was read; a new one was not. */
static struct tpa_table_place *place_of(struct tpa_tables *tables, const struct tpa_chunk *chunk)
{
	bool found;
	uint32_t *number = tpa_pairs_at(&tables->place_of, chunk->offset, chunk->begin.ticks, &found);

	if (!found) {
		*TPA_APPEND(tables->places, tables->place_count, tables->place_room) =
			(struct tpa_table_place){ .offset = chunk->offset, .begin = chunk->begin.ticks };
		*number = (uint32_t)tables->place_count;
	}
	return &tables->places[*number - 1];
}

/*
 * Reads the next record. A damaged one behind which nothing can be read stays to be read again when the chunk has grown: where a
 * file is being copied, the rest of it may come.
 */
static void read_next(struct tpa_tables *tables)
{
	const uint8_t *record = tables->at;
	const char *reason = read_record(tables);
	uint64_t size = (uint64_t)(tables->at - record);

	if (reason && tables->at == tables->end) {
		if (!is_expected(tables, reason))
			tpa_damage_add(&tables->impl->trace, tables->offset + (uint64_t)(record - tables->start), size,
				       reason);
		return;
	}
	if (reason)
		tpa_tables_damage(tables, record, size, reason);
	tables->place->taken += size;
}

/* Reads what is new in a chunk. */
static void read_chunk(struct tpa_tables *tables, const struct tpa_chunk *chunk)
{
	struct tpa_table_place *place = place_of(tables, chunk);
	struct tpa_trace *trace = &tables->impl->trace;
	uint64_t left;
	uint8_t *buffer;
	size_t got;

	place->seen = true;
	if (place->taken > chunk->committed)
		tpa_damage_add(trace, chunk->offset, place->taken - chunk->committed,
			       "a chunk of tables became shorter");
	if (place->taken >= chunk->committed)
		return;
	left = chunk->committed - place->taken;
	buffer = tpa_zalloc(left + TPA_PADDING, 1);
	tables->place = place;
	tables->offset = chunk->offset + sizeof(struct tprof_chunk) + place->taken;
	got = tpa_trace_bytes_at(tables->impl, buffer, left, tables->offset);
	if (got < left)
		tpa_damage_add(trace, tables->offset + got, left - got, "can't be read");
	tables->start = tables->at = buffer;
	tables->end = buffer + got;
	while (tables->at < tables->end)
		read_next(tables);
	free(buffer);
}

/*
 * Reserves room for all nodes that the file can have, so that this list, the longest, need not move as it grows. Pages that
 * are never written cost nothing. Where the reservation fails, or there are few nodes, the list grows step by step.
 */
static void reserve_nodes(struct tpa_tables *tables)
{
	size_t size = sizeof(*tables->nodes), most = (size_t)tables->impl->number_limit;

	if (most < NODES_MANY)
		return;
	tables->nodes = malloc(most * size);
	tables->node_room = tables->nodes ? most : 0;
}

static struct tpa_tables *tables_new(struct tpa_trace_impl *impl)
{
	struct tpa_tables *tables = tpa_zalloc(1, sizeof(*tables));

	tables->impl = impl;
	reserve_nodes(tables);
	tpa_extend(&tables->nodes, &tables->node_count, &tables->node_room, TPROF_NODE_FIRST, sizeof(*tables->nodes));
	tpa_extend(&tables->frames, &tables->frame_count, &tables->frame_room, 1, sizeof(*tables->frames));
	return tables;
}

/* Tells the damage of records that are not read again. */
static void tell_damage(const struct tpa_tables *tables)
{
	for (size_t i = 0; i < tables->damage_count; i++)
		tpa_damage_add(&tables->impl->trace, tables->damage[i].offset, tables->damage[i].lost_bytes,
			       tables->damage[i].reason);
}

static void tell_gone(struct tpa_tables *tables)
{
	for (size_t i = 0; i < tables->place_count; i++) {
		if (!tables->places[i].seen)
			tpa_damage_add(&tables->impl->trace, tables->places[i].offset, 0,
				       "a chunk of tables is no longer there");
		tables->places[i].seen = false;
	}
}

void tpa_tables_read(struct tpa_trace_impl *impl)
{
	struct tpa_trace *trace = &impl->trace;

	if (!impl->records)
		impl->records = tables_new(impl);
	if (trace->regions) { /* their numbers are behind those of the file */
		tpa_regions_drop(trace);
		impl->records->op_room = trace->op_count;
	}
	tell_damage(impl->records);
	for (size_t i = 0; i < impl->tables.count; i++)
		read_chunk(impl->records, &impl->tables.list[i]);
	tell_gone(impl->records);
	tpa_tables_resolve(impl->records);
	trace->recorded_frames = impl->records->frame_count - 1;
	trace->recorded_nodes = impl->records->node_count - TPROF_NODE_FIRST;
}

void tpa_tables_free(struct tpa_tables *tables)
{
	if (!tables)
		return;
	free(tables->modules);
	free(tables->frames);
	free(tables->nodes);
	free(tables->unloads);
	free(tables->frame_waits);
	free(tables->op_waits);
	free(tables->places);
	tpa_pairs_free(&tables->place_of);
	free(tables->damage);
	free(tables);
}
