/* SPDX-License-Identifier: Apache-2.0 */
/* Table records of Python: code objects, frames, and nodes that join a Python stack with a native one. */
#include "trace/records.h"

#include <string.h>

#include "base/memory.h"
#include "base/varint.h"

#define IMPORTS "<frozen importlib._bootstrap"

const char *tpa_tables_code(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	struct tpa_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), line = tpa_uvarint(&at), name_length = tpa_uvarint(&at);
	struct tpa_code *code;

	if (!tpa_read_ok(body, at, end) || name_length > (uint64_t)(end - at))
		return TPA_CUT_RECORD;
	if (!tpa_tables_is_number(tables, number) || line > INT32_MAX)
		return TPA_BAD_NUMBER;
	tpa_extend(&trace->codes, &trace->code_count, &tables->code_room, number + 1, sizeof(*code));
	code = &trace->codes[number];
	if (code->name)
		return TPA_NUMBER_TWICE;
	code->first_line = (uint32_t)line;
	code->name = tpa_tables_texts(at, name_length, at + name_length, (size_t)(end - at) - name_length);
	code->file = code->name + name_length + 1;
	code->imports = strncmp(code->file, IMPORTS, strlen(IMPORTS)) == 0;
	return NULL;
}

const char *tpa_tables_python(struct tpa_tables *tables, const uint8_t *at, const uint8_t *end)
{
	const uint8_t *body = at;
	uint64_t number = tpa_uvarint(&at), code = tpa_uvarint(&at), line = tpa_uvarint(&at);
	uint8_t flags = *at++;

	if (!tpa_read_ok(body, at, end))
		return TPA_CUT_RECORD;
	if (code >= tables->impl->number_limit || line > INT32_MAX)
		return TPA_BAD_NUMBER;
	return tpa_tables_frame(
		tables, number,
		(struct tpa_frame_record){ .code = (uint32_t)code, .line = (uint32_t)line, .flags = flags });
}

struct numbers {
	uint64_t node, native, python;
};

/* False: the record does not fit the chunk, or uses bits of a later version. */
static bool read_join(struct tpa_tables *tables, struct numbers *join)
{
	const uint8_t *record = tables->at, *at = record + 1;
	uint8_t tag = *record;

	join->node = tables->place->expected + (tag & TPROF_JOIN_NODE ? (uint64_t)tpa_svarint(&at) : 0);
	join->native = join->node - (tag & TPROF_JOIN_NATIVE ? tpa_uvarint(&at) : 1);
	join->python = tables->place->python + (tag & TPROF_JOIN_PYTHON ? (uint64_t)tpa_svarint(&at) : 0);
	tables->at = at;
	return tpa_read_ok(record, at, tables->end) && !(tag >> 5);
}

const char *tpa_tables_join(struct tpa_tables *tables)
{
	const uint8_t *record = tables->at;
	struct tpa_node_record *node;
	struct numbers join;

	if (!read_join(tables, &join)) {
		tables->at = tables->end;
		return TPA_CUT_RECORD;
	}
	if (!tpa_tables_is_number(tables, join.node) || join.node < TPROF_NODE_FIRST || join.native >= join.node ||
	    join.python >= join.node) {
		tables->at = tables->end;
		return TPA_BAD_NUMBER;
	}
	tables->place->expected = join.node + 1;
	tables->place->python = join.python;
	tpa_extend(&tables->nodes, &tables->node_count, &tables->node_room, join.node + 1, sizeof(*tables->nodes));
	node = &tables->nodes[join.node];
	if (node->frame || node->parent) /* The native and Python stacks are still good. */
		tpa_tables_damage(tables, record, 0, TPA_NUMBER_TWICE);
	else
		*node = (struct tpa_node_record){ (uint32_t)join.native, (uint32_t)join.python | TPA_JOIN };
	return NULL;
}
