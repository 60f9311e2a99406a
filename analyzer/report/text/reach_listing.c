/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/reach_listing.h"

#include <stdlib.h>

#include "report/rows/reach_rows.h"
#include "report/text/listing.h"
#include "report/text/name.h"

static const struct tpa_process *process_of(const struct tpa_growth_view *view)
{
	return &view->listing.run->processes[view->process];
}

static void print_stacks(const struct tpa_growth_view *view, const struct tpa_reach_found *found)
{
	const struct tpa_page *page = view->listing.page;
	uint64_t top = view->listing.top;
	char shorter[400];

	for (size_t i = 0; i < found->count && (!top || i < top); i++) {
		const struct tpa_reach_sum *sum = found->list[i];
		const char *op = tpa_process_op_name(process_of(view), sum->op);

		fprintf(page->out, "\n%4zu. ", i + 1);
		tpa_print(page, TPA_STYLE_NUMBER, "%s", tpa_bytes(sum->bytes, page->exact).text);
		fprintf(page->out, " in %s block%s\n", tpa_count(sum->blocks).text, tpa_plural(sum->blocks));
		if (op)
			tpa_print(page, TPA_STYLE_DIM, "        in op %s\n",
				  tpa_short_name(page, op, 80, shorter, sizeof(shorter)));
		tpa_listing_print_stack(&view->listing, view->process, sum->node);
	}
	if (top && found->count > top)
		tpa_print(page, TPA_STYLE_DIM, "\n      and %zu more stack%s (--top 0 shows all)\n",
			  found->count - (size_t)top, tpa_plural(found->count - (size_t)top));
}

static void print_unseen(const struct tpa_page *page, const struct tpa_trace *trace)
{
	uint32_t waiting = tpa_reach_unknown_waiting(trace), running = trace->header->snapshot_running;

	if (!waiting && !running)
		return;
	tpa_print(
		page, TPA_STYLE_DIM,
		"\n"
		"  the registers of %s other thread%s are not searched (%u waited, %u ran): a stack's lost blocks are "
		"listed as\n"
		"  possibly lost if these registers could hold all of them\n",
		tpa_count((uint64_t)waiting + running).text, tpa_plural(waiting + running), waiting, running);
}

static void print_unsearched(const struct tpa_page *page, const struct tpa_trace *trace)
{
	char text[200];

	tpa_reach_say_unsearched(trace, text, sizeof(text));
	if (!text[0])
		return;
	tpa_headline(page, "The leak check at the end was not made (TPROF_LEAKCHECK=exit)");
	fprintf(page->out, "  %s\n", text);
	if (!trace->running && trace->header->search_at_end == TPROF_SEARCH_DUE)
		fputs("  exit() and a return from main() run it; tprof ctl PID leakcheck runs one at any time\n",
		      page->out);
}

void tpa_reach_print(const struct tpa_growth_view *view)
{
	const struct tpa_page *page = view->listing.page;
	const struct tpa_trace *trace = process_of(view)->trace;
	uint64_t ticks = tpa_reach_latest(trace);

	print_unsearched(page, trace);
	if (!ticks)
		return;
	tpa_headline(page, "What pointers lead to, %s after the start", tpa_time(tpa_trace_ns(trace, ticks)).text);
	for (size_t i = 0; i < TPA_REACH_KINDS; i++) {
		struct tpa_reach_found found = tpa_reach_find(view, tpa_reach_kinds[i].reach);

		fprintf(page->out, "%s  ", i ? "\n" : "");
		tpa_print(page, TPA_STYLE_NUMBER, "%s in %s block%s", tpa_bytes(found.bytes, page->exact).text,
			  tpa_count(found.blocks).text, tpa_plural(found.blocks));
		fprintf(page->out, " %s\n", tpa_reach_kinds[i].words);
		if (tpa_reach_kinds[i].listed)
			print_stacks(view, &found);
		free(found.list);
	}
	print_unseen(page, trace);
}
