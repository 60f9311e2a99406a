/* SPDX-License-Identifier: Apache-2.0 */
/* dump: every event, readable. The only command that prints in proportion to the trace, so it writes as it reads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/site_report.h"
#include "model/work.h"
#include "report/process.h"
#include "report/stack.h"
#include "trace/events.h"

struct dump {
	struct tp_session *session;
	const struct tp_process *process;
	struct tp_trace *trace;
	struct tp_symbols *symbols;
	char **names;	  /* of nodes: what a line says of a stack; NULL: not asked for yet */
	bool *used;	  /* of nodes: an event that was printed has this stack */
	uint64_t printed; /* events, of all processes */
	bool out_of_memory;
};

static bool is_wanted(const struct dump *dump, const struct tp_event *event, uint64_t time_ns)
{
	const struct tp_options *options = dump->session->options;

	return (!options->thread || event->thread == options->thread) && time_ns >= options->from_ns &&
	       (!options->to_ns || time_ns <= options->to_ns);
}

static bool has_stack(const struct tp_event *event)
{
	return event->kind == TP_EVENT_ALLOC || event->kind == TP_EVENT_MAP || event->kind == TP_EVENT_POOL_ALLOC;
}

/* "function at file:line", of the program's own frame. */
static char *describe(struct dump *dump, uint32_t node)
{
	struct tp_stack stack = { 0 };
	const struct tp_line *own;
	char name[512], place[512], *text = NULL;

	if (!tp_stack_read(&stack, dump->trace, dump->symbols, node)) {
		dump->out_of_memory = true;
		return NULL;
	}
	own = tp_stack_own(&stack);
	if (!own)
		text = strdup(node == TPROF_NODE_NONE ? "stack not recorded" : "?");
	else if (asprintf(&text, "%s (%s)", tp_line_name(own, name, sizeof(name)),
			  tp_line_place(own, dump->trace->cwd, place, sizeof(place))) < 0)
		text = NULL;
	tp_stack_free(&stack);
	if (!text)
		dump->out_of_memory = true;
	return text;
}

static const char *stack_text(struct dump *dump, uint32_t node)
{
	node = tp_trace_node(dump->trace, node);
	if (!dump->names[node])
		dump->names[node] = describe(dump, node);
	return dump->names[node] ? dump->names[node] : "?";
}

/* ---- text ---- */

static const char *size_text(const struct dump *dump, uint64_t bytes, struct tp_text *text)
{
	*text = tp_bytes(bytes, dump->session->page.exact);
	return text->text;
}

static void print_alloc(struct dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	struct tp_text size;

	fprintf(out, "%-14s %#14" PRIx64 "  %10s", tp_fn_name(event->fn), event->address,
		size_text(dump, event->size, &size));
	fprintf(out, "  usable %s", size_text(dump, event->usable, &size));
	if (event->alignment_log2)
		fprintf(out, "  aligned to 2^%u", event->alignment_log2);
	fprintf(out, "  stack %" PRIu32 " %s", event->node, stack_text(dump, event->node));
}

static void print_map(struct dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	struct tp_text size;

	fprintf(out, "%-14s %#14" PRIx64 "  %10s", event->remap ? "mremap (to)" : "mmap", event->address,
		size_text(dump, event->size, &size));
	fprintf(out, "  prot %#" PRIx64 " flags %#" PRIx64 "  stack %" PRIu32 " %s", event->prot,
		event->usable & UINT32_MAX, event->node, stack_text(dump, event->node));
}

/* Names may hold any bytes; a terminal must not see them. */
static void print_text(FILE *out, const struct tp_event *event)
{
	for (uint32_t i = 0; i < event->name_length; i++)
		fputc((unsigned char)event->name[i] < ' ' || event->name[i] == 127 ? '?' : event->name[i], out);
}

static const struct tp_op *op_of(const struct dump *dump, const struct tp_event *event)
{
	const struct tp_trace *trace = dump->trace;

	return event->size < trace->op_count && trace->ops[event->size].name ? &trace->ops[event->size] : NULL;
}

/* What typed kernels and folded calls say, in words. */
static void print_work(FILE *out, const struct tp_event *event)
{
	struct tp_work work;
	struct tp_work_amount amount;
	char shape[256];

	if (!event->name || !tp_work_read(&work, (const uint8_t *)event->name, event->name_length))
		return;
	amount = tp_work_amount(&work);
	tp_work_shape(&work, shape, sizeof(shape));
	fprintf(out, "%-14s %s %s", "work", tp_work_name(work.kind), shape);
	if (amount.flop_known)
		fprintf(out, "  %" PRIu64 " FLOP", amount.flop);
}

static void print_fold(struct dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	const struct tp_op *op = op_of(dump, event);
	struct tp_folded folded;
	char shape[256];

	if (!event->name || !tp_fold_read(&folded, (const uint8_t *)event->name, event->name_length))
		return;
	tp_fold_shape(&folded, shape, sizeof(shape));
	fprintf(out, "%-14s %" PRIu32 " calls, %" PRIu64 " ticks  ", "folded", folded.counts.calls,
		folded.counts.ticks);
	for (const char *c = op ? op->name : "(not named in the trace)"; *c; c++)
		fputc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, out);
	fprintf(out, " %s", shape);
}

/* Increases since the thread's last. */
static void print_counters(const struct dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	struct tp_counters counters;

	tp_counters_decode(&counters, event->size, event->name, event->name_length);
	fprintf(out, "%-14s", "counters");
	for (size_t i = 0; i < dump->trace->counter_count; i++) {
		const struct tp_counter *counter = &dump->trace->counters[i];

		if (counter->number)
			fprintf(out, " %s +%" PRIu64, counter->name, counters.value[counter->number - 1]);
	}
}

static void json_counters(const struct dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	struct tp_counters counters;
	const char *comma = "";

	tp_counters_decode(&counters, event->size, event->name, event->name_length);
	fprintf(out, ", \"idle_ns\": %" PRIu64 ", \"increases\": [", counters.idle_ns);
	for (size_t i = 0; i < dump->trace->counter_count; i++) {
		const struct tp_counter *counter = &dump->trace->counters[i];

		if (!counter->number)
			continue;
		fprintf(out, "%s%" PRIu64, comma, counters.value[counter->number - 1]);
		comma = ", ";
	}
	fputc(']', out);
}

/* Beginnings, details and ends of ops; steps; counters. */
static void print_op(struct dump *dump, const struct tp_event *event)
{
	const struct tp_op *op = op_of(dump, event);
	FILE *out = dump->session->page.out;
	struct tp_text size;

	switch (event->kind) {
	case TP_EVENT_OP_BEGIN:
		fprintf(out, "%-14s ", "op begins");
		for (const char *c = op ? op->name : "(not named in the trace)"; *c; c++)
			fputc((unsigned char)*c < ' ' || *c == 127 ? '?' : *c, out);
		break;
	case TP_EVENT_OP_END:
		fprintf(out, "%-14s %s", "op ends", event->unwound ? "unwound" : "");
		break;
	case TP_EVENT_DETAIL:
		fprintf(out, "%-14s %" PRIu64 " FLOP, %s moved, shape ", "op detail", event->size,
			size_text(dump, event->usable, &size));
		print_text(out, event);
		break;
	case TP_EVENT_COUNTERS:
		print_counters(dump, event);
		break;
	default:
		fprintf(out, "%-14s %" PRIu64 " items", "step ends", event->size);
		break;
	}
}

static void print_pool(struct dump *dump, const struct tp_event *event)
{
	FILE *out = dump->session->page.out;
	struct tp_text size;

	if (event->kind == TP_EVENT_POOL_FREE) {
		fprintf(out, "%-14s %#14" PRIx64 "%s", "pool free", event->address, event->size ? "  all of it" : "");
		return;
	}
	fprintf(out, "%-14s %#14" PRIx64 "  %10s", "pool alloc", event->address, size_text(dump, event->size, &size));
	fprintf(out, "  of %#" PRIx64 "  stack %" PRIu32 " %s", event->usable, event->node,
		stack_text(dump, event->node));
}

static void print_event(struct dump *dump, const struct tp_event *event, uint64_t time_ns)
{
	FILE *out = dump->session->page.out;
	struct tp_text size;

	fprintf(out, "%14.6f  thread %-4" PRIu32 " ", (double)time_ns / 1e6, event->thread);
	switch ((enum tp_event_kind)event->kind) {
	case TP_EVENT_ALLOC:
		print_alloc(dump, event);
		break;
	case TP_EVENT_FREE:
		fprintf(out, "%-14s %#14" PRIx64 "%s", tp_fn_name(event->fn), event->address,
			event->fn < TPROF_FN_FREE ? "  old block" : "");
		break;
	case TP_EVENT_MAP:
		print_map(dump, event);
		break;
	case TP_EVENT_UNMAP:
		fprintf(out, "%-14s %#14" PRIx64 "  %10s", event->remap ? "mremap (from)" : "munmap", event->address,
			size_text(dump, event->size, &size));
		break;
	case TP_EVENT_MEMORY:
		fprintf(out, "%-14s RSS %s", "memory", size_text(dump, event->size, &size));
		fprintf(out, "  VMS %s", size_text(dump, event->usable, &size));
		break;
	case TP_EVENT_NAME:
	case TP_EVENT_MARK:
		fprintf(out, "%-14s ", tp_event_kind_name(event->kind));
		print_text(out, event);
		break;
	case TP_EVENT_OP_BEGIN:
	case TP_EVENT_OP_END:
	case TP_EVENT_DETAIL:
	case TP_EVENT_STEP:
	case TP_EVENT_COUNTERS:
		print_op(dump, event);
		break;
	case TP_EVENT_POOL_ALLOC:
	case TP_EVENT_POOL_FREE:
		print_pool(dump, event);
		break;
	case TP_EVENT_WORK:
		print_work(out, event);
		break;
	case TP_EVENT_FOLD:
		print_fold(dump, event);
		break;
	case TP_EVENT_SAMPLE:
		fprintf(out, "%-14s %" PRIu64 " of CPU time  stack %" PRIu32 " %s", "sample", event->size, event->node,
			stack_text(dump, event->node));
		break;
	case TP_EVENT_PAUSE:
	case TP_EVENT_RESUME:
		fprintf(out, "%-14s of recording", tp_event_kind_name(event->kind));
		break;
	case TP_EVENT_THREAD:
		fprintf(out, "%-14s takes over a chunk, tid %" PRIu32, "thread", event->tid);
		break;
	default:
		fprintf(out, "%-14s the last release did not happen", tp_event_kind_name(event->kind));
		break;
	}
	fputs(event->cancelled ? "  (cancelled)\n" : "\n", out);
}

/* ---- JSON ---- */

static void json_hex(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ", \"%s\": \"0x%" PRIx64 "\"", key, value);
}

static void json_number(FILE *out, const char *key, uint64_t value)
{
	fprintf(out, ", \"%s\": %" PRIu64, key, value > INT64_MAX ? (uint64_t)INT64_MAX : value);
}

static void json_text(FILE *out, const char *key, const char *text, size_t length)
{
	fprintf(out, ", \"%s\": \"", key);
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		fputc(byte < ' ' || byte > 126 || byte == '"' || byte == '\\' ? '?' : byte, out);
	}
	fputc('"', out);
}

static void json_work(FILE *out, const struct tp_event *event)
{
	struct tp_work work;
	char shape[256];

	if (!event->name || !tp_work_read(&work, (const uint8_t *)event->name, event->name_length))
		return;
	tp_work_shape(&work, shape, sizeof(shape));
	json_text(out, "work", tp_work_name(work.kind), strlen(tp_work_name(work.kind)));
	json_text(out, "shape", shape, strlen(shape));
	json_number(out, "flop", tp_work_amount(&work).flop);
	json_number(out, "bytes", tp_work_amount(&work).bytes);
}

static void json_fold(FILE *out, const struct tp_event *event)
{
	struct tp_folded folded;
	char shape[256];

	if (!event->name || !tp_fold_read(&folded, (const uint8_t *)event->name, event->name_length))
		return;
	tp_fold_shape(&folded, shape, sizeof(shape));
	json_number(out, "calls", folded.counts.calls);
	json_number(out, "ticks", folded.counts.ticks);
	json_text(out, "shape", shape, strlen(shape));
	json_number(out, "flop", tp_fold_amount(&folded).flop);
	json_number(out, "bytes", tp_fold_amount(&folded).bytes);
}

static void json_op(struct dump *dump, const struct tp_event *event)
{
	bool named = event->kind == TP_EVENT_OP_BEGIN || event->kind == TP_EVENT_FOLD;
	const struct tp_op *op = named ? op_of(dump, event) : NULL;
	FILE *out = dump->session->page.out;

	if (named)
		json_number(out, "op", event->size);
	if (event->kind == TP_EVENT_WORK)
		json_work(out, event);
	if (event->kind == TP_EVENT_FOLD)
		json_fold(out, event);
	if (op) {
		json_text(out, "name", op->name, strlen(op->name));
		json_text(out, "category", op->category, strlen(op->category));
	}
	if (event->kind == TP_EVENT_OP_END)
		fprintf(out, ", \"unwound\": %s", event->unwound ? "true" : "false");
	if (event->kind == TP_EVENT_STEP)
		json_number(out, "items", event->size);
	if (event->kind == TP_EVENT_DETAIL) {
		json_number(out, "flop", event->size);
		json_number(out, "bytes", event->usable);
		json_text(out, "shape", event->name, event->name_length);
	}
	if (event->kind == TP_EVENT_COUNTERS)
		json_counters(dump, event);
}

/* One object a line, written by hand: a tree of a million events would be larger than the trace. */
static void json_event(struct dump *dump, const struct tp_event *event, uint64_t time_ns)
{
	FILE *out = dump->session->page.out;

	fprintf(out,
		"%s\n    {\"time_ns\": %" PRIu64 ", \"pid\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"kind\": \"%s\"",
		dump->printed ? "," : "", time_ns, dump->trace->header->pid, event->thread,
		tp_event_kind_name(event->kind));
	json_number(out, "offset", event->offset);
	if (event->kind <= TP_EVENT_MAP)
		json_hex(out, "address", event->address);
	if (event->kind == TP_EVENT_ALLOC || event->kind == TP_EVENT_FREE)
		fprintf(out, ", \"function\": \"%s\"", tp_fn_name(event->fn));
	if (event->kind >= TP_EVENT_UNMAP && event->kind <= TP_EVENT_MAP)
		json_number(out, "size", event->size);
	if (event->kind == TP_EVENT_ALLOC) {
		json_number(out, "usable", event->usable);
		json_number(out, "alignment", event->alignment_log2 < 64 ? UINT64_C(1) << event->alignment_log2 : 0);
	}
	if (event->kind == TP_EVENT_POOL_ALLOC || event->kind == TP_EVENT_POOL_FREE)
		json_hex(out, "address", event->address);
	if (event->kind == TP_EVENT_POOL_ALLOC) {
		json_number(out, "size", event->size);
		json_hex(out, "pool", event->usable);
	}
	if (event->kind == TP_EVENT_POOL_FREE)
		fprintf(out, ", \"whole_pool\": %s", event->size ? "true" : "false");
	if (has_stack(event))
		json_number(out, "stack", tp_trace_node(dump->trace, event->node));
	if (event->kind == TP_EVENT_MEMORY) {
		json_number(out, "rss", event->size);
		json_number(out, "vms", event->usable);
	}
	if (event->kind == TP_EVENT_NAME || event->kind == TP_EVENT_MARK)
		json_text(out, event->kind == TP_EVENT_NAME ? "name" : "text", event->name, event->name_length);
	if (event->kind >= TP_EVENT_OP_BEGIN)
		json_op(dump, event);
	fputs(event->cancelled ? ", \"cancelled\": true}" : "}", out);
}

/* The stacks that the events name, each once. */
static void json_stacks(struct dump *dump, bool first_process)
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
		stack = tp_json_stack(dump->trace, dump->symbols, (uint32_t)i, &own);
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

/* ---- all events ---- */

static void show(struct dump *dump, const struct tp_event *event, uint64_t time_ns)
{
	if (has_stack(event))
		dump->used[tp_trace_node(dump->trace, event->node)] = true;
	if (dump->session->options->json)
		json_event(dump, event, time_ns);
	else
		print_event(dump, event, time_ns);
	dump->printed++;
}

static void read_events(struct dump *dump, uint64_t limit)
{
	struct tp_events *events = tp_events_open(dump->trace);
	unsigned int shift = dump->trace->header->tick_shift;
	const struct tp_event *event;

	while (events && !dump->out_of_memory && (!limit || dump->printed < limit) &&
	       (event = tp_events_next(events))) {
		uint64_t time_ns = dump->process->start_ns + tp_trace_ns(dump->trace, event->time << shift);

		if (is_wanted(dump, event, time_ns))
			show(dump, event, time_ns);
	}
	if (!events || tp_events_failed(events))
		dump->out_of_memory = true;
	tp_events_close(events);
}

static struct tp_trace *find_trace(const struct tp_session *session, const struct tp_process *process)
{
	size_t i = 0;

	while (session->traces[i] != process->trace)
		i++;
	return session->traces[i];
}

static void begin_process(struct dump *dump, size_t index)
{
	dump->process = &dump->session->run->processes[index];
	dump->trace = find_trace(dump->session, dump->process);
	dump->symbols = tp_session_symbols(dump->session, index);
	dump->names = calloc(dump->trace->node_count, sizeof(*dump->names));
	dump->used = calloc(dump->trace->node_count, sizeof(*dump->used));
	if (!dump->symbols || !dump->names || !dump->used)
		dump->out_of_memory = true;
}

static void end_process(struct dump *dump)
{
	for (size_t i = 0; dump->names && i < dump->trace->node_count; i++)
		free(dump->names[i]);
	free(dump->names);
	dump->names = NULL;
}

static void dump_text(struct dump *dump)
{
	const struct tp_page *page = &dump->session->page;
	uint64_t limit = dump->session->options->top_set ? dump->session->options->top : 0;

	for (size_t i = 0; i < dump->session->run->process_count && !dump->out_of_memory; i++) {
		begin_process(dump, i);
		if (!dump->out_of_memory) {
			tp_process_print(dump->process, page);
			tp_print(page, TP_STYLE_DIM, "  milliseconds since the start of the run\n");
			read_events(dump, limit);
		}
		end_process(dump);
		free(dump->used);
	}
}

static void dump_json(struct dump *dump)
{
	uint64_t limit = dump->session->options->top_set ? dump->session->options->top : 0;
	size_t count = dump->session->run->process_count, i;
	bool **used = calloc(count + 1, sizeof(*used));
	FILE *out = dump->session->page.out;

	dump->out_of_memory = !used;
	fputs("{\"schema\": \"tprof/1\",\n  \"events\": [", out);
	for (i = 0; used && i < count && !dump->out_of_memory; i++) {
		begin_process(dump, i);
		used[i] = dump->used;
		if (!dump->out_of_memory)
			read_events(dump, limit);
		end_process(dump);
	}
	fputs("\n  ],\n  \"stacks\": [", out);
	for (i = 0; used && i < count; i++) {
		dump->process = &dump->session->run->processes[i];
		dump->trace = find_trace(dump->session, dump->process);
		dump->symbols = tp_session_symbols(dump->session, i);
		dump->used = used[i];
		if (!dump->out_of_memory)
			json_stacks(dump, i == 0);
		free(used[i]);
	}
	fputs("\n  ]}\n", out);
	free(used);
}

int tp_cmd_dump(const struct tp_options *options)
{
	struct tp_session session;
	struct dump dump = { .session = &session };
	int status = tp_session_open(&session, options);

	if (status == TP_EXIT_OK)
		status = tp_session_replay(&session, TP_GROUP_STACK);
	if (status != TP_EXIT_OK)
		return status;
	if (options->json)
		dump_json(&dump);
	else
		dump_text(&dump);
	if (dump.out_of_memory)
		return fputs("tprof-analyze: out of memory\n", stderr), tp_session_close(&session, TP_EXIT_TRACE);
	return tp_session_close(&session, TP_EXIT_OK);
}
