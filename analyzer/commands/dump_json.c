/* SPDX-License-Identifier: Apache-2.0 */
/* dump: an event as JSON, written at once: no list of them is ever in memory. */
#include "commands/dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/flop/work.h"
#include "report/json/json.h"
#include "report/json/json_stack.h"

static void json_hex(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ", \"%s\": \"0x%" PRIx64 "\"", key, value);
}

static void json_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, key, value > INT64_MAX ? (uint64_t)INT64_MAX : value);
}

/* As it is in JSON already: most names are, and there are millions. */
static bool is_plain(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

/* As everywhere in JSON: what is no UTF-8 is "?". A byte of 0 can't be in a name: what is behind it is left out. */
static void json_text(FILE *out, const char *key, const char *text, size_t length)
{
	char *copy;
	json_t *json;

	fprintf(out, ", \"%s\": ", key);
	if (is_plain(text, length)) {
		fprintf(out, "\"%.*s\"", (int)length, length ? text : "");
		return;
	}
	copy = strndup(text, length);
	json = copy ? tp_json_string(copy) : json_null();
	json_dumpf(json, out, JSON_ENCODE_ANY);
	json_decref(json);
	free(copy);
}

/* Of a memory sample, as far as it says. */
static void json_parts(FILE *out, const struct tp_event *event)
{
	const struct tp_memory_parts *parts = event->memory.parts;

	if (parts->said)
		json_number(out, "shared", parts->shared);
	if (!parts->counted)
		return;
	json_number(out, "collector", parts->own);
	json_number(out, "stacks", parts->stacks);
	json_number(out, "mapped", parts->mapped);
}

static void json_allocator(FILE *out, const struct tp_event *event)
{
	const struct tp_allocator *numbers = event->allocator;

	if (!numbers)
		return;
	json_number(out, "allocated", numbers->allocated);
	json_number(out, "active", numbers->active);
	json_number(out, "metadata", numbers->metadata);
	json_number(out, "resident", numbers->resident);
	json_number(out, "mapped", numbers->mapped);
	json_number(out, "retained", numbers->retained);
}

static void json_counters(const struct tp_dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	const char *comma = "";

	fprintf(out, ", \"idle_ns\": %" PRIu64 ", \"increases\": [", event->counters->idle_ns);
	for (size_t i = 0; i < dump->trace->counter_count; i++) {
		const struct tp_counter *counter = &dump->trace->counters[i];

		if (!counter->number)
			continue;
		fprintf(out, "%s%" PRIu64, comma, event->counters->value[counter->number - 1]);
		comma = ", ";
	}
	fputc(']', out);
}

/* Beginnings, details and ends of ops; steps; counters. */
static void json_work(FILE *out, const struct tp_event *event)
{
	const struct tp_work *work = event->work;
	char shape[256];

	if (!work)
		return;
	tp_work_shape(work, shape, sizeof(shape));
	json_text(out, "work", tp_work_name(work->kind), strlen(tp_work_name(work->kind)));
	json_text(out, "shape", shape, strlen(shape));
	json_number(out, "flop", tp_work_amount(work).flop);
	json_number(out, "bytes", tp_work_amount(work).bytes);
}

static void json_fold(FILE *out, const struct tp_event *event)
{
	const struct tp_folded *folded = event->fold.calls;
	char shape[256];

	if (!folded)
		return;
	tp_fold_shape(folded, shape, sizeof(shape));
	json_number(out, "calls", folded->counts.calls);
	json_number(out, "ticks", folded->counts.ticks);
	json_text(out, "shape", shape, strlen(shape));
	json_number(out, "flop", tp_fold_amount(folded).flop);
	json_number(out, "bytes", tp_fold_amount(folded).bytes);
}

static void json_region(const struct tp_dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	const struct tp_region *region = event->region;
	const char *file = NULL;

	if (!region)
		return;
	if (region->kind && region->file && region->file < dump->trace->file_count)
		file = dump->trace->files[region->file];
	json_hex(out, "low", region->low);
	json_hex(out, "high", region->high);
	json_number(out, "part", region->kind);
	json_text(out, "file", file ? file : "", file ? strlen(file) : 0);
	json_number(out, "rss", region->rss);
	json_number(out, "pss", region->pss);
	json_number(out, "private", region->private);
	json_number(out, "written", region->written);
	json_number(out, "swap", region->swap);
}

static void json_usage(FILE *out, const struct tp_event *event)
{
	const struct tp_usage *usage = event->usage;

	if (!usage)
		return;
	json_number(out, "minor_faults", usage->minor_faults);
	json_number(out, "major_faults", usage->major_faults);
	json_number(out, "waits", usage->waits);
	json_number(out, "preemptions", usage->preemptions);
	json_number(out, "cpu_ns", usage->cpu_ns);
	json_number(out, "thread_cpu_ns", usage->own_cpu_ns);
}

static void json_op(struct tp_dump *dump, const struct tp_event *event)
{
	bool named = event->kind == TP_EVENT_OP_BEGIN || event->kind == TP_EVENT_FOLD || event->kind == TP_EVENT_SHAPE;
	const struct tp_op *op = named ? tp_dump_op(dump, event) : NULL;
	FILE *out = dump->session->page.out;

	if (named)
		json_number(out, "op", tp_event_op(event));
	if (event->kind == TP_EVENT_WORK)
		json_work(out, event);
	if (event->kind == TP_EVENT_FOLD)
		json_fold(out, event);
	if (op) {
		json_text(out, "name", op->name, strlen(op->name));
		json_text(out, "category", op->category, strlen(op->category));
		if (op->shape)
			json_text(out, "shape", op->shape, strlen(op->shape));
	}
	if (event->kind == TP_EVENT_OP_END)
		fprintf(out, ", \"unwound\": %s, \"within\": %" PRIu64, event->op_end.unwound ? "true" : "false",
			event->op_end.kept);
	if (event->kind == TP_EVENT_STEP)
		json_number(out, "items", event->step.items);
	if (event->kind == TP_EVENT_DETAIL) {
		json_number(out, "flop", event->detail.flop);
		json_number(out, "bytes", event->detail.bytes);
		json_text(out, "shape", event->detail.shape.text, event->detail.shape.length);
	}
	if (event->kind == TP_EVENT_COUNTERS)
		json_counters(dump, event);
}

/* Blocks and mappings. */
static void json_memory(FILE *out, const struct tp_event *event)
{
	switch (event->kind) {
	case TP_EVENT_ALLOC:
		json_hex(out, "address", event->alloc.address);
		fprintf(out, ", \"function\": \"%s\"", tp_fn_name(event->alloc.fn));
		json_number(out, "size", event->alloc.bytes);
		json_number(out, "usable", event->alloc.usable);
		json_number(out, "alignment",
			    event->alloc.alignment_log2 < 64 ? UINT64_C(1) << event->alloc.alignment_log2 : 0);
		break;
	case TP_EVENT_FREE:
		json_hex(out, "address", event->free.address);
		fprintf(out, ", \"function\": \"%s\"", tp_fn_name(event->free.fn));
		break;
	case TP_EVENT_MAP:
		json_hex(out, "address", event->map.address);
		json_number(out, "size", event->map.length);
		break;
	case TP_EVENT_UNMAP:
		json_hex(out, "address", event->unmap.address);
		json_number(out, "size", event->unmap.length);
		break;
	case TP_EVENT_POOL_ALLOC:
		json_hex(out, "address", event->pool_alloc.address);
		json_number(out, "size", event->pool_alloc.bytes);
		json_hex(out, "pool", event->pool_alloc.pool);
		break;
	case TP_EVENT_POOL_FREE:
		json_hex(out, "address", event->pool_free.address);
		fprintf(out, ", \"whole_pool\": %s", event->pool_free.whole ? "true" : "false");
		break;
	default:
		break;
	}
}

/* One object a line, written by hand: a tree of a million events would be larger than the trace. */
void tp_dump_event_json(struct tp_dump *dump, const struct tp_event *event, uint64_t time_ns)
{
	FILE *out = dump->session->page.out;

	fprintf(out,
		"%s\n    {\"time_ns\": %" PRIu64 ", \"pid\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"kind\": \"%s\"",
		dump->printed ? "," : "", time_ns, dump->trace->header->pid, event->thread,
		tp_event_kind_name(event->kind));
	json_number(out, "offset", event->offset);
	json_memory(out, event);
	if (event->kind == TP_EVENT_SAMPLE)
		json_number(out, "periods", event->sample.periods);
	if (tp_event_has_node(event->kind))
		json_number(out, "stack", tp_trace_node(dump->trace, event->node));
	if (event->kind == TP_EVENT_MEMORY) {
		json_number(out, "rss", event->memory.rss);
		json_number(out, "vms", event->memory.vms);
		json_parts(out, event);
	}
	if (event->kind == TP_EVENT_ALLOCATOR)
		json_allocator(out, event);
	if (event->kind == TP_EVENT_REGION)
		json_region(dump, event);
	if (event->kind == TP_EVENT_USAGE)
		json_usage(out, event);
	if (event->kind == TP_EVENT_NAME)
		json_text(out, "name", event->name.text, event->name.length);
	if (event->kind == TP_EVENT_MARK)
		json_text(out, "text", event->mark.text, event->mark.length);
	if (event->kind >= TP_EVENT_OP_BEGIN)
		json_op(dump, event);
	fputs(event->cancelled ? ", \"cancelled\": true}" : "}", out);
}

/* The stacks that the events name, each once. */
void tp_dump_stacks_json(struct tp_dump *dump, bool first_process)
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
		stack = tp_json_stack(dump->trace, dump->symbols, (uint32_t)i, NULL, &own);
		if (!stack) {
			dump->out_of_memory = true;
			return;
		}
		fprintf(out, "%s\n      \"%zu\": {\"own\": %" JSON_INTEGER_FORMAT ", \"stack\": ", first ? "" : ",", i,
			own);
		json_dumpf(stack, out, JSON_COMPACT | JSON_ENCODE_ANY);
		fputc('}', out);
		json_decref(stack);
		first = false;
	}
	fputs("}}", out);
}
