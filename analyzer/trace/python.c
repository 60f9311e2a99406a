/* SPDX-License-Identifier: Apache-2.0 */
/* Table records of Python: code objects, frames, and nodes that join them with native stacks. */
#include <stdlib.h>
#include <string.h>

#include "trace/records.h"
#include "base/varint.h"
#include "base/reserve.h"

static bool in_range(const struct tp_tables *tables, uint64_t number)
{
	return number && number < tables->impl->number_limit;
}

bool tp_tables_code(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tp_uvarint(&at), line = tp_uvarint(&at), name_length = tp_uvarint(&at);
	struct tp_code *code;

	if (!tp_read_ok(body, at, end) || name_length > (uint64_t)(end - at)) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	if (!in_range(tables, number) || line > INT32_MAX) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_BAD_NUMBER);
		return true;
	}
	if (!tp_tables_extend(&trace->codes, &trace->code_count, &tables->code_room, number + 1, sizeof(*code)))
		return false;
	code = &trace->codes[number];
	if (code->name) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_NUMBER_TWICE);
		return true;
	}
	code->first_line = (uint32_t)line;
	code->name = tp_tables_texts(at, name_length, at + name_length, (size_t)(end - at) - name_length);
	if (!code->name)
		return false;
	code->file = code->name + name_length + 1;
	return true;
}

bool tp_tables_python(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	uint64_t number = tp_uvarint(&at), code = tp_uvarint(&at), line = tp_uvarint(&at);
	uint8_t flags = *at++;
	bool taken;

	if (!tp_read_ok(body, at, end)) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	if (!in_range(tables, number) || (code && !in_range(tables, code)) || line > INT32_MAX) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_BAD_NUMBER);
		return true;
	}
	if (!tp_tables_frame(tables, number, &taken))
		return false;
	if (taken)
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_NUMBER_TWICE);
	else
		tables->impl->trace.frames[number] =
			(struct tp_frame){ .code = (uint32_t)code, .line = (uint32_t)line, .flags = flags };
	return true;
}

struct numbers {
	uint64_t node, native, python;
};

/* False: it does not fit the chunk, or has bits that mean nothing. */
static bool read_join(struct tp_tables *tables, const uint8_t *record, struct numbers *join)
{
	const uint8_t *at = record + 1;
	uint8_t tag = *record;

	join->node = tables->expected + (tag & TPROF_JOIN_NODE ? (uint64_t)tp_svarint(&at) : 0);
	join->native = join->node - (tag & TPROF_JOIN_NATIVE ? tp_uvarint(&at) : 1);
	join->python = tables->python + (tag & TPROF_JOIN_PYTHON ? (uint64_t)tp_svarint(&at) : 0);
	if (!tp_read_ok(record, at, tables->end) || tag >> 5)
		return false;
	tables->at = at;
	tables->expected = join->node + 1;
	tables->python = join->python;
	return true;
}

/* Until all nodes are known it is an alias of its native stack. */
bool tp_tables_join(struct tp_tables *tables, const uint8_t *record)
{
	struct tp_trace *trace = &tables->impl->trace;
	struct numbers join;

	if (!read_join(tables, record, &join)) {
		tp_tables_damage(tables, record, (uint64_t)(tables->end - record), TP_CUT_RECORD);
		tables->at = tables->end;
		return true;
	}
	if (!in_range(tables, join.node) || join.node < TPROF_NODE_FIRST || join.native >= join.node ||
	    join.python >= join.node) {
		tp_tables_damage(tables, record, (uint64_t)(tables->end - record), TP_BAD_NUMBER);
		tables->at = tables->end;
		return true;
	}
	if (!tp_tables_extend(&trace->nodes, &trace->node_count, &tables->node_room, join.node + 1,
			      sizeof(*trace->nodes)) ||
	    !tp_reserve(&tables->joins, &tables->join_room, tables->join_count + 1, sizeof(*tables->joins)))
		return false;
	if (trace->nodes[join.node].frame || trace->nodes[join.node].parent) {
		tp_tables_damage(tables, record, 0, TP_NUMBER_TWICE);
		return true;
	}
	trace->nodes[join.node].parent = (uint32_t)join.native;
	tables->joins[tables->join_count++] =
		(struct tp_join){ (uint32_t)join.node, (uint32_t)join.native, (uint32_t)join.python };
	return true;
}
