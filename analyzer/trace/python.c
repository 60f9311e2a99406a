/* SPDX-License-Identifier: Apache-2.0 */
/* Table records of Python: code objects, frames, and nodes that join them with native stacks. */
#include <stdlib.h>
#include <string.h>

#include "trace/records.h"
#include "base/varint.h"
#include "base/reserve.h"

static bool in_range(const struct tpa_tables *tables, uint64_t number)
{
	return number && number < tables->impl->number_limit;
}

bool tpa_tables_code(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), line = tpa_uvarint(&at), name_length = tpa_uvarint(&at);
	struct tpa_code *code;

	if (!tpa_read_ok(body, at, end) || name_length > (uint64_t)(end - at)) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_CUT_RECORD);
		return true;
	}
	if (!in_range(tables, number) || line > INT32_MAX) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_BAD_NUMBER);
		return true;
	}
	if (!tpa_tables_extend(&trace->codes, &trace->code_count, &tables->code_room, number + 1, sizeof(*code)))
		return false;
	code = &trace->codes[number];
	if (code->name) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_NUMBER_TWICE);
		return true;
	}
	code->first_line = (uint32_t)line;
	code->name = tpa_tables_texts(at, name_length, at + name_length, (size_t)(end - at) - name_length);
	if (!code->name)
		return false;
	code->file = code->name + name_length + 1;
	return true;
}

bool tpa_tables_python(struct tpa_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), code = tpa_uvarint(&at), line = tpa_uvarint(&at);
	uint8_t flags = *at++;
	bool taken;

	if (!tpa_read_ok(body, at, end)) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_CUT_RECORD);
		return true;
	}
	if (!in_range(tables, number) || (code && !in_range(tables, code)) || line > INT32_MAX) {
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_BAD_NUMBER);
		return true;
	}
	if (!tpa_tables_frame(tables, number, &taken))
		return false;
	if (taken)
		tpa_tables_damage(tables, record, (uint64_t)(end - record), TPA_NUMBER_TWICE);
	else
		tables->impl->trace.frames[number] =
			(struct tpa_frame){ .code = (uint32_t)code, .line = (uint32_t)line, .flags = flags };
	return true;
}

struct numbers {
	uint64_t node, native, python;
};

/* False: it does not fit the chunk, or has bits that mean nothing. */
static bool read_join(struct tpa_tables *tables, const uint8_t *record, struct numbers *join)
{
	const uint8_t *at = record + 1;
	uint8_t tag = *record;

	join->node = tables->expected + (tag & TPROF_JOIN_NODE ? (uint64_t)tpa_svarint(&at) : 0);
	join->native = join->node - (tag & TPROF_JOIN_NATIVE ? tpa_uvarint(&at) : 1);
	join->python = tables->python + (tag & TPROF_JOIN_PYTHON ? (uint64_t)tpa_svarint(&at) : 0);
	if (!tpa_read_ok(record, at, tables->end) || tag >> 5)
		return false;
	tables->at = at;
	tables->expected = join->node + 1;
	tables->python = join->python;
	return true;
}

/* Until all nodes are known it is an alias of its native stack. */
bool tpa_tables_join(struct tpa_tables *tables, const uint8_t *record)
{
	struct tpa_trace *trace = &tables->impl->trace;
	struct numbers join;

	if (!read_join(tables, record, &join)) {
		tpa_tables_damage(tables, record, (uint64_t)(tables->end - record), TPA_CUT_RECORD);
		tables->at = tables->end;
		return true;
	}
	if (!in_range(tables, join.node) || join.node < TPROF_NODE_FIRST || join.native >= join.node ||
	    join.python >= join.node) {
		tpa_tables_damage(tables, record, (uint64_t)(tables->end - record), TPA_BAD_NUMBER);
		tables->at = tables->end;
		return true;
	}
	if (!tpa_tables_extend(&trace->nodes, &trace->node_count, &tables->node_room, join.node + 1,
			       sizeof(*trace->nodes)) ||
	    !tpa_reserve(&tables->joins, &tables->join_room, tables->join_count + 1, sizeof(*tables->joins)))
		return false;
	if (trace->nodes[join.node].frame || trace->nodes[join.node].parent) {
		tpa_tables_damage(tables, record, 0, TPA_NUMBER_TWICE);
		return true;
	}
	trace->nodes[join.node].parent = (uint32_t)join.native;
	tables->joins[tables->join_count++] =
		(struct tpa_join){ (uint32_t)join.node, (uint32_t)join.native, (uint32_t)join.python };
	return true;
}
