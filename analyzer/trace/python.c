/* SPDX-License-Identifier: Apache-2.0 */
/* Table records of Python: code objects, frames, and nodes that join them with native stacks. */
#include <stdlib.h>
#include <string.h>

#include "trace/tables.h"
#include "trace/varint.h"

static bool in_range(const struct tp_tables *tables, uint64_t number)
{
	return number && number < tables->impl->number_limit;
}

/* One block for both: name, NUL, file, NUL. */
static bool set_texts(struct tp_code *code, const uint8_t *name, size_t name_length, const uint8_t *file, size_t length)
{
	char *text = malloc(name_length + 1 + length + 1);

	if (!text)
		return false;
	memcpy(text, name, name_length);
	text[name_length] = 0;
	memcpy(text + name_length + 1, file, length);
	text[name_length + 1 + length] = 0;
	code->name = text;
	code->file = text + name_length + 1;
	return true;
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
	return set_texts(code, at, name_length, at + name_length, (size_t)(end - at) - name_length);
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
	if (!in_range(tables, number) || !in_range(tables, code) || line > INT32_MAX) {
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

/* Until all nodes are known it is an alias of its native stack. */
bool tp_tables_join(struct tp_tables *tables, const uint8_t *record, const uint8_t *at, const uint8_t *end)
{
	struct tp_trace *trace = &tables->impl->trace;
	const uint8_t *body = at;
	uint64_t number = tables->expected + (uint64_t)tp_svarint(&at), native = number - tp_uvarint(&at);
	uint64_t python = tables->python + (uint64_t)tp_svarint(&at);

	if (!tp_read_ok(body, at, end)) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_CUT_RECORD);
		return true;
	}
	tables->expected = number + 1;
	tables->python = python;
	if (!in_range(tables, number) || number < TPROF_NODE_FIRST || native >= number || python >= number) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_BAD_NUMBER);
		return true;
	}
	if (!tp_tables_extend(&trace->nodes, &trace->node_count, &tables->node_room, number + 1,
			      sizeof(*trace->nodes)) ||
	    !tp_reserve(&tables->joins, &tables->join_room, tables->join_count + 1, sizeof(*tables->joins)))
		return false;
	if (trace->nodes[number].frame || trace->nodes[number].parent) {
		tp_tables_damage(tables, record, (uint64_t)(end - record), TP_NUMBER_TWICE);
		return true;
	}
	trace->nodes[number].parent = (uint32_t)native;
	tables->joins[tables->join_count++] = (struct tp_join){ (uint32_t)number, (uint32_t)native, (uint32_t)python };
	return true;
}
