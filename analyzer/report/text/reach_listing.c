/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/reach_listing.h"

#include <stdlib.h>

#include "report/rows/reach_rows.h"
#include "report/text/listing.h"
#include "report/text/name.h"

static const struct tp_process *process_of(const struct tp_growth_view *view)
{
	return &view->listing.run->processes[view->process];
}

static void print_stacks(const struct tp_growth_view *view, const struct tp_reach_found *found)
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
	uint32_t waiting = tp_reach_unknown_waiting(trace), running = trace->header->snapshot_running;

	if (!waiting && !running)
		return;
	tp_print(page, TP_STYLE_DIM,
		 "\n"
		 "  the registers of %s other thread%s are not searched (%u waited, %u ran): a stack's lost blocks are "
		 "listed as\n"
		 "  possibly lost if these registers could hold all of them\n",
		 tp_count((uint64_t)waiting + running).text, tp_plural(waiting + running), waiting, running);
}

static void print_unsearched(const struct tp_page *page, const struct tp_trace *trace)
{
	char text[200];

	tp_reach_say_unsearched(trace, text, sizeof(text));
	if (!text[0])
		return;
	tp_headline(page, "The leak check at the end was not made (TPROF_LEAKCHECK=exit)");
	fprintf(page->out, "  %s\n", text);
	if (!trace->running && trace->header->search_at_end == TPROF_SEARCH_DUE)
		fputs("  exit() and a return from main() run it; tprof ctl PID leakcheck runs one at any time\n",
		      page->out);
}

void tp_reach_print(const struct tp_growth_view *view)
{
	const struct tp_page *page = view->listing.page;
	const struct tp_trace *trace = process_of(view)->trace;
	uint64_t ticks = tp_reach_latest(trace);

	print_unsearched(page, trace);
	if (!ticks)
		return;
	tp_headline(page, "What pointers lead to, %s after the start", tp_time(tp_trace_ns(trace, ticks)).text);
	for (size_t i = 0; i < TP_REACH_KINDS; i++) {
		struct tp_reach_found found = tp_reach_find(view, tp_reach_kinds[i].reach);

		fprintf(page->out, "%s  ", i ? "\n" : "");
		tp_print(page, TP_STYLE_NUMBER, "%s in %s block%s", tp_bytes(found.bytes, page->exact).text,
			 tp_count(found.blocks).text, tp_plural(found.blocks));
		fprintf(page->out, " %s\n", tp_reach_kinds[i].words);
		if (found.list && tp_reach_kinds[i].listed)
			print_stacks(view, &found);
		free(found.list);
	}
	print_unseen(page, trace);
}
