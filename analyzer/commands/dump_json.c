/* SPDX-License-Identifier: Apache-2.0 */
/* dump: an event as JSON. Each is written at once; memory never holds a list of events. */
#include "commands/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/flop/work.h"
#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "trace/fields.h"

static void json_hex(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ", \"%s\": \"0x%" PRIx64 "\"", key, value);
}

static void json_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, key, value > INT64_MAX ? (uint64_t)INT64_MAX : value);
}

/* Does JSON need no escapes for this text? Most names need none, and there are millions. */
static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

/* Replaces invalid UTF-8 by "?", as all JSON output does. Cuts the text at a zero byte, which a name can't contain. */
static void json_text(FILE *out, const char *key, const char *text, size_t length)
{
	char *copy;
	json_t *json;

	fprintf(out, ", \"%s\": ", key);
	if (is_plain(text, length)) {
		fprintf(out, "\"%.*s\"", (int)length, length ? text : "");
		return;
	}
	copy = tpa_strndup(text, length);
	json = tpa_json_string(copy);
	json_dumpf(json, out, JSON_ENCODE_ANY);
	json_decref(json);
	free(copy);
}

static void json_file(const struct tpa_dump *dump, const char *key, uint64_t number)
{
	const struct tpa_trace *trace = dump->trace;
	const char *file = number < trace->file_count ? trace->files[number] : NULL;

	json_text(dump->session->page.out, key, file ? file : "", file ? strlen(file) : 0);
}

static void json_field(const struct tpa_dump *dump, const struct tpa_field *field, const void *base)
{
	const void *at = (const char *)base + field->offset;
	FILE *out = dump->session->page.out;
	uint64_t value = tpa_field_value(field, base);

	switch ((enum tpa_field_type)field->type) {
	case TPA_FIELD_NUMBER:
	case TPA_FIELD_OP:
		json_number(out, field->name, value);
		break;
	case TPA_FIELD_ADDRESS:
		json_hex(out, field->name, value);
		break;
	case TPA_FIELD_FLAG:
		fprintf(out, ", \"%s\": %s", field->name, value ? "true" : "false");
		break;
	case TPA_FIELD_FUNCTION:
		fprintf(out, ", \"%s\": \"%s\"", field->name, tpa_fn_name((unsigned)value));
		break;
	case TPA_FIELD_LOG2:
		json_number(out, field->name, value < 64 ? UINT64_C(1) << value : 0);
		break;
	case TPA_FIELD_MEAN:
		if (value != TPA_MEAN_UNSAID)
			json_number(out, field->name, value ? UINT64_C(1) << value : 0);
		break;
	case TPA_FIELD_TEXT:
		json_text(out, field->name, ((const struct tpa_event_text *)at)->text,
			  ((const struct tpa_event_text *)at)->length);
		break;
	case TPA_FIELD_RANK:
		fprintf(out, ", \"%s\": %" PRId32, field->name, (int32_t)value);
		break;
	case TPA_FIELD_COMM:
		fprintf(out, ", \"%s\": \"%s\"", field->name, tpa_comm_name((unsigned)value));
		break;
	case TPA_FIELD_FILE:
		json_file(dump, field->name, value);
		break;
	}
}

static void json_fields(const struct tpa_dump *dump, const struct tpa_field *fields, const void *base)
{
	for (size_t i = 0; i < TPA_FIELDS_MOST && fields[i].name; i++)
		if (tpa_field_is_there(&fields[i], base))
			json_field(dump, &fields[i], base);
}

/* ---- derived values ---- */

static void json_increases(const struct tpa_dump *dump, const struct tpa_counters *counters)
{
	FILE *out = dump->session->page.out;
	const char *comma = "";

	fputs(", \"increases\": [", out);
	for (size_t i = 0; i < dump->trace->counter_count; i++) {
		const struct tpa_counter *counter = &dump->trace->counters[i];

		if (!counter->number)
			continue;
		fprintf(out, "%s%" PRIu64, comma, counters->value[counter->number - 1]);
		comma = ", ";
	}
	fputc(']', out);
}

static void json_amount(FILE *out, const char *shape, struct tpa_work_amount amount)
{
	json_text(out, "shape", shape, strlen(shape));
	json_number(out, "flop", amount.flop);
	json_number(out, "bytes", amount.bytes);
}

static void json_work(FILE *out, const struct tpa_work *work)
{
	char shape[256];

	tpa_work_shape(work, shape, sizeof(shape));
	json_text(out, "work", tpa_work_name(work->kind), strlen(tpa_work_name(work->kind)));
	json_amount(out, shape, tpa_work_amount(work));
}

static void json_folded(FILE *out, const struct tpa_folded *folded)
{
	char shape[256];

	tpa_fold_shape(folded, shape, sizeof(shape));
	json_amount(out, shape, tpa_fold_amount(folded));
}

/* Which parts of what a call receives are not empty. */
static void json_parts(FILE *out, const struct tpa_comm *comm)
{
	const char *comma = "";

	if (!comm->parts)
		return;
	if (!comm->part_bytes) {
		fputs(", \"parts\": null", out);
		return;
	}
	fputs(", \"parts\": [", out);
	for (unsigned i = 0; i < comm->part_bytes * 8u; i++) {
		if (!(comm->part_bits[i / 8] >> i % 8 & 1))
			continue;
		fprintf(out, "%s%u", comma, i);
		comma = ", ";
	}
	fputc(']', out);
}

static void json_payload(const struct tpa_dump *dump, const struct tpa_event *event)
{
	const void *payload = tpa_event_payload(event);
	FILE *out = dump->session->page.out;

	if (!payload)
		return;
	json_fields(dump, tpa_event_rows[event->kind].inside, payload);
	if (event->kind == TPA_EVENT_COUNTERS)
		json_increases(dump, payload);
	if (event->kind == TPA_EVENT_WORK)
		json_work(out, payload);
	if (event->kind == TPA_EVENT_FOLD)
		json_folded(out, payload);
	if (event->kind == TPA_EVENT_COMM)
		json_parts(out, payload);
}

static void json_op(const struct tpa_dump *dump, const struct tpa_event *event)
{
	const struct tpa_op *op = tpa_event_op(event) ? tpa_dump_op(dump, event) : NULL;
	FILE *out = dump->session->page.out;

	if (!op)
		return;
	json_text(out, "name", op->name, strlen(op->name));
	json_text(out, "category", op->category, strlen(op->category));
	if (op->shape)
		json_text(out, "shape", op->shape, strlen(op->shape));
}

/* Writes one object per line by hand: a JSON tree of a million events would be larger than the trace. */
void tpa_dump_event_json(struct tpa_dump *dump, const struct tpa_event *event, uint64_t time_ns)
{
	FILE *out = dump->session->page.out;

	fprintf(out,
		"%s\n    {\"time_ns\": %" PRIu64 ", \"pid\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"kind\": \"%s\"",
		dump->printed ? "," : "", time_ns, dump->trace->header->pid, event->thread,
		tpa_event_kind_name(event->kind));
	json_number(out, "offset", event->offset);
	json_fields(dump, tpa_event_rows[event->kind].fields, event);
	if (tpa_event_has_node(event->kind))
		json_number(out, "stack", tpa_event_node(dump->trace, event));
	json_payload(dump, event);
	json_op(dump, event);
	fputs(event->cancelled ? ", \"cancelled\": true}" : "}", out);
}

/* Writes each stack that the events name once. */
void tpa_dump_stacks_json(struct tpa_dump *dump, bool first_process)
{
	FILE *out = dump->session->page.out;
	bool first = true;

	fprintf(out, "%s\n    {\"pid\": %" PRIu32 ", \"stacks\": {", first_process ? "" : ",",
		dump->trace->header->pid);
	for (size_t i = 0; i < dump->trace->node_count; i++) {
		json_int_t own = -1;
		json_t *stack;

		if (!dump->used[i])
			continue;
		stack = tpa_json_stack(dump->trace, dump->symbols, (uint32_t)i, NULL, &own);
		fprintf(out, "%s\n      \"%zu\": {\"own\": %" JSON_INTEGER_FORMAT ", \"stack\": ", first ? "" : ",", i,
			own);
		json_dumpf(stack, out, JSON_COMPACT | JSON_ENCODE_ANY);
		fputc('}', out);
		json_decref(stack);
		first = false;
	}
	fputs("}}", out);
}
