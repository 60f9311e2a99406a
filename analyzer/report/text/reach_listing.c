/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/reach_listing.h"

#include <stdlib.h>

#include "report/json/json.h"
#include "report/json/json_stack.h"
#include "report/rows/name.h"

#define KINDS 4

static const struct {
	const char *words, *key;
	enum tprof_reach reach;
	bool listed; /* in text: what can be reached is no leak, and what a lost block leads to goes with it */
} kinds[KINDS] = {
	{ "definitely lost: nothing points to it", "definitely_lost", TPROF_REACH_DEFINITE, true },
	{ "indirectly lost: only lost blocks do", "indirectly_lost", TPROF_REACH_INDIRECT, false },
	{ "possibly lost: only pointers into its inside do", "possibly_lost", TPROF_REACH_POSSIBLE, true },
	{ "still reachable", "still_reachable", TPROF_REACH_STILL, false },
};

static const struct tp_process *process_of(const struct tp_growth_view *view)
{
	return &view->listing.run->processes[view->process];
}

static int by_bytes(const void *a, const void *b)
{
	const struct tp_reach_sum *x = *(const struct tp_reach_sum *const *)a;
	const struct tp_reach_sum *y = *(const struct tp_reach_sum *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Threads that waited in a call that was not hooked: their registers are not known. */
static uint32_t unknown_waiting(const struct tp_trace *trace)
{
	const struct tprof_header *header = trace->header;

	return header->snapshot_known < header->snapshot_waiting ? header->snapshot_waiting - header->snapshot_known
								 : 0;
}

/* Words in registers that calls keep, of threads that were not stopped: what could be held there and nowhere else. */
static uint64_t unseen_registers(const struct tp_trace *trace)
{
	return TPROF_KEPT * ((uint64_t)unknown_waiting(trace) + trace->header->snapshot_running);
}

struct found {
	const struct tp_reach_sum **list;
	size_t count;
	uint64_t bytes, blocks;
};

/* When the latest search was; 0: never. */
static uint64_t latest(const struct tp_trace *trace)
{
	uint64_t ticks = trace->header->search_ticks; /* where nothing was alive there is no more of it */

	for (size_t i = 0; i < trace->reach_count; i++)
		ticks = trace->reach[i].ticks > ticks ? trace->reach[i].ticks : ticks;
	return ticks;
}

/* What the latest search found of a kind, the largest first. The caller frees the list; NULL: no memory. */
static struct found find(const struct tp_growth_view *view, enum tprof_reach reach)
{
	const struct tp_trace *trace = process_of(view)->trace;
	struct found found = { .list = calloc(trace->reach_count + 1, sizeof(struct tp_reach_sum *)) };
	uint64_t ticks = latest(trace);

	for (size_t i = 0; found.list && i < trace->reach_count; i++) {
		const struct tp_reach_sum *sum = &trace->reach[i];

		if (sum->ticks != ticks || sum->reach != reach || !tp_growth_shown(view, sum->node))
			continue;
		found.list[found.count++] = sum;
		found.bytes += sum->bytes;
		found.blocks += sum->blocks;
	}
	if (found.count)
		qsort(found.list, found.count, sizeof(*found.list), by_bytes);
	return found;
}

static void print_stacks(const struct tp_growth_view *view, const struct found *found)
{
	const struct tp_page *page = view->listing.page;
	uint64_t top = view->listing.top;
	char shorter[400];

	for (size_t i = 0; i < found->count && (!top || i < top); i++) {
		const struct tp_reach_sum *sum = found->list[i];
		const char *op = tp_process_op_name(process_of(view), sum->op);

		fprintf(page->out, "\n%4zu. ", i + 1);
		tp_print(page, TP_STYLE_NUMBER, "%s", tp_bytes(sum->bytes, page->exact).text);
		fprintf(page->out, " in %s block%s\n", tp_count(sum->blocks).text, tp_plural(sum->blocks));
		if (op)
			tp_print(page, TP_STYLE_DIM, "        in op %s\n",
				 tp_short_name(page, op, 80, shorter, sizeof(shorter)));
		tp_listing_print_stack(&view->listing, view->process, sum->node);
	}
	if (top && found->count > top)
		tp_print(page, TP_STYLE_DIM, "\n      and %zu more stack%s (--top 0 shows all)\n",
			 found->count - (size_t)top, tp_plural(found->count - (size_t)top));
}

static void print_unseen(const struct tp_page *page, const struct tp_trace *trace)
{
	uint32_t waiting = unknown_waiting(trace), running = trace->header->snapshot_running;

	if (!waiting && !running)
		return;
	tp_print(page, TP_STYLE_DIM,
		 "\n  the registers of %s other thread%s are not searched (%u waited, %u ran): stacks whose lost "
		 "blocks are "
		 "so few\n"
		 "  that these could hold them are among the possibly lost\n",
		 tp_count((uint64_t)waiting + running).text, tp_plural(waiting + running), waiting, running);
}

/* ---- a search that was asked for and not made ---- */

static const char *ending(const struct tp_trace *trace)
{
	static const char *const ways[] = {
		"the system call exit_group", "exit()", "_exit()", "_Exit()", "quick_exit()",
		"the system call exit_group"
	};
	const struct tprof_header *header = trace->header;

	switch (header->end) {
	case TPROF_END_EXIT:
		return ways[header->end_way < sizeof(ways) / sizeof(ways[0]) ? header->end_way : 0];
	case TPROF_END_SIGNAL:
		return "a signal";
	case TPROF_END_EXEC:
		return "exec, which put another program in its place";
	default:
		return "a signal, or the system call exit_group";
	}
}

/* Why there is no result of the search at the end. "": there is one, or none was asked for. */
static void say_unsearched(const struct tp_trace *trace, char *text, size_t size)
{
	text[0] = 0;
	switch (trace->header->search_at_end) {
	case TPROF_SEARCH_DUE:
		if (trace->running)
			snprintf(text, size, "the process runs still: the search comes at its end");
		else if (trace->header->flags & TPROF_FLAG_STOPPED)
			snprintf(text, size, "recording had ended before the process did");
		else
			snprintf(text, size, "the process was ended by %s, which passes the search by", ending(trace));
		break;
	case TPROF_SEARCH_FORBIDDEN:
		snprintf(
			text, size,
			"permissions forbade it: the process changed its user, or its program may be run but not read");
		break;
	case TPROF_SEARCH_NO_PROGRAM:
		snprintf(text, size,
			 "tprof-analyze could not be started: it belongs to ../bin from where libtprof.so is");
		break;
	case TPROF_SEARCH_FAILED:
		snprintf(text, size, "the search failed; the program's standard error says why");
		break;
	default:
		break;
	}
}

static const char *state_of(const struct tp_trace *trace)
{
	switch (trace->header->search_at_end) {
	case TPROF_SEARCH_NOT_ASKED:
		return "not asked";
	case TPROF_SEARCH_DUE:
		return trace->running ? "due" : "passed by";
	case TPROF_SEARCH_DONE:
		return "done";
	case TPROF_SEARCH_FORBIDDEN:
		return "forbidden";
	default:
		return "failed";
	}
}

static void print_unsearched(const struct tp_page *page, const struct tp_trace *trace)
{
	char text[200];

	say_unsearched(trace, text, sizeof(text));
	if (!text[0])
		return;
	tp_headline(page, "The leak check at the end was not made (TPROF_LEAKCHECK=exit)");
	fprintf(page->out, "  %s\n", text);
	if (!trace->running && trace->header->search_at_end == TPROF_SEARCH_DUE)
		fputs("  exit() and return from main() make it; tprof ctl PID leakcheck makes one while the process "
		      "runs\n",
		      page->out);
}

json_t *tp_reach_search_json(const struct tp_growth_view *view)
{
	const struct tp_trace *trace = process_of(view)->trace;
	uint64_t ticks = latest(trace);
	char text[200];

	say_unsearched(trace, text, sizeof(text));
	return json_pack("{s:s, s:o, s:o}", "at_end", state_of(trace), "reason",
			 text[0] ? tp_json_string(text) : json_null(), "time_ns",
			 ticks ? tp_json_number(tp_trace_ns(trace, ticks)) : json_null());
}

void tp_reach_print(const struct tp_growth_view *view)
{
	const struct tp_page *page = view->listing.page;
	const struct tp_trace *trace = process_of(view)->trace;
	uint64_t ticks = latest(trace);

	print_unsearched(page, trace);
	if (!ticks)
		return;
	tp_headline(page, "What pointers lead to, %s after the start", tp_time(tp_trace_ns(trace, ticks)).text);
	for (size_t i = 0; i < KINDS; i++) {
		struct found found = find(view, kinds[i].reach);

		fprintf(page->out, "%s  ", i ? "\n" : "");
		tp_print(page, TP_STYLE_NUMBER, "%s in %s block%s", tp_bytes(found.bytes, page->exact).text,
			 tp_count(found.blocks).text, tp_plural(found.blocks));
		fprintf(page->out, " %s\n", kinds[i].words);
		if (found.list && kinds[i].listed)
			print_stacks(view, &found);
		free(found.list);
	}
	print_unseen(page, trace);
}

static json_t *json_sum(const struct tp_growth_view *view, const struct tp_reach_sum *sum)
{
	const struct tp_process *process = process_of(view);
	json_int_t own;
	json_t *stack = tp_json_stack(process->trace, view->listing.symbols[view->process], sum->node, NULL, &own);

	return json_pack("{s:o, s:o, s:o, s:o, s:I}", "bytes", tp_json_number(sum->bytes), "blocks",
			 tp_json_number(sum->blocks), "op", tp_json_string(tp_process_op_name(process, sum->op)),
			 "stack", stack, "own", own);
}

json_t *tp_reach_json(const struct tp_growth_view *view)
{
	const struct tp_trace *trace = process_of(view)->trace;
	uint64_t ticks = latest(trace), top = view->listing.top;
	json_t *json = json_object();

	if (!ticks) {
		json_decref(json);
		return json_null();
	}
	json_object_set_new(json, "time_ns", tp_json_number(tp_trace_ns(trace, ticks)));
	json_object_set_new(json, "threads_waiting", json_integer(trace->header->snapshot_waiting));
	json_object_set_new(json, "threads_running", json_integer(trace->header->snapshot_running));
	json_object_set_new(json, "threads_searched", json_integer(trace->header->snapshot_known));
	json_object_set_new(json, "registers_unseen", tp_json_number(unseen_registers(trace)));
	for (size_t i = 0; i < KINDS; i++) {
		struct found found = find(view, kinds[i].reach);
		json_t *list = json_array();

		for (size_t k = 0; found.list && k < found.count && (!top || k < top); k++)
			json_array_append_new(list, json_sum(view, found.list[k]));
		json_object_set_new(json, kinds[i].key,
				    json_pack("{s:o, s:o, s:o, s:o}", "bytes", tp_json_number(found.bytes), "blocks",
					      tp_json_number(found.blocks), "sites_total", tp_json_number(found.count),
					      "sites", list));
		free(found.list);
	}
	return json;
}
