/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/holder_listing.h"

#include <stdlib.h>

#include "report/rows/holder_rows.h"
#include "report/text/listing.h"

#define DOUBTS 4

static const struct tpa_trace *trace_of(const struct tpa_growth_view *view)
{
	return view->listing.run->processes[view->process].trace;
}

void tpa_holder_print_line(const struct tpa_listing *listing, size_t process, uint32_t node, uint32_t op)
{
	const struct tpa_trace *trace = listing->run->processes[process].trace;
	char text[2000], shorter[2000];

	if (tpa_holder_text(trace, listing->symbols[process], node, op, text, sizeof(text)))
		fprintf(listing->page->out, "        held by %s\n",
			tpa_shorten(listing->page, text, listing->page->width - 16, shorter, sizeof(shorter)));
}

/* Prints one link per line, with the memory that would be freed without it. */
static void print_path(const struct tpa_growth_view *view, const struct tpa_held *held)
{
	const struct tpa_page *page = view->listing.page;
	const struct tpa_trace *trace = trace_of(view);
	struct tpa_holder_path path;

	if (!tpa_holder_path(trace, held, &path)) {
		fputs("        its path is not in the trace\n", page->out);
		return;
	}
	for (size_t i = 0; i < path.count; i++) {
		const struct tpa_holder_link *link = path.links[i];
		char text[700], shorter[700];

		tpa_holder_link_text(trace, view->listing.symbols[view->process], link, text, sizeof(text));
		fprintf(page->out, "        %s%s", i ? "-> " : "",
			tpa_shorten(page, text, page->width - 48, shorter, sizeof(shorter)));
		tpa_print(page, i == path.holder ? TPA_STYLE_NUMBER : TPA_STYLE_DIM, "   retains %s in %s block%s\n",
			  tpa_bytes(link->bytes, page->exact).text, tpa_count(link->blocks).text,
			  tpa_plural(link->blocks));
	}
}

static void print_stack(const struct tpa_growth_view *view, const struct tpa_held *held, size_t number)
{
	const struct tpa_page *page = view->listing.page;
	char text[1200];

	fprintf(page->out, "\n%4zu. ", number);
	tpa_print(page, TPA_STYLE_NUMBER, "%s", tpa_bytes(held->all_bytes, page->exact).text);
	fprintf(page->out, " in %s block%s", tpa_count(held->all_blocks).text, tpa_plural(held->all_blocks));
	if (held->blocks < held->all_blocks)
		fprintf(page->out, ", %s of them", tpa_count(held->blocks).text);
	fputs(held->blocks < held->all_blocks ? " held by\n" : ", held by\n", page->out);
	print_path(view, held);
	tpa_listing_describe(&view->listing, view->process, held->node, page->width - 22, text, sizeof(text));
	tpa_print(page, TPA_STYLE_DIM, "        allocated by %s\n", text);
}

static bool was_printed(const struct tpa_held *const *printed, size_t count, const struct tpa_held *held)
{
	for (size_t i = 0; i < count; i++)
		if (printed[i] == held)
			return true;
	return false;
}

/* Prints what grows, in the order of `leaks`. */
static size_t print_growing(const struct tpa_growth_view *view, const struct tpa_held **printed)
{
	const struct tpa_growth_list *list = &view->listing.run->processes[view->process].growth.heap;
	size_t count = 0;

	for (size_t i = 0; i < list->leaks; i++) {
		const struct tpa_held *held = tpa_held_find(trace_of(view), list->list[i].node, list->list[i].op);

		if (!held || !tpa_growth_shown(view, list->list[i].node) || was_printed(printed, count, held) ||
		    (view->listing.top && count == view->listing.top))
			continue;
		if (!count)
			tpa_headline(view->listing.page, "What holds the blocks that grow");
		printed[count++] = held;
		print_stack(view, held, count);
	}
	return count;
}

static void print_stacks(const struct tpa_growth_view *view)
{
	size_t count, shown, number = 0;
	const struct tpa_held **list = tpa_held_list(trace_of(view), TPROF_HELD_STACK, &count);
	const struct tpa_held **printed = tpa_held_list(trace_of(view), TPROF_HELD_STACK, &shown);

	shown = print_growing(view, printed);
	for (size_t i = 0; i < count && (!view->listing.top || number < view->listing.top); i++) {
		if (was_printed(printed, shown, list[i]) || !tpa_growth_shown(view, list[i]->node))
			continue;
		if (!number)
			tpa_headline(view->listing.page, "What holds the blocks of each stack, the largest first");
		print_stack(view, list[i], ++number);
	}
	free(list);
	free(printed);
}

static void print_largest(const struct tpa_growth_view *view)
{
	const struct tpa_page *page = view->listing.page;
	size_t count;
	const struct tpa_held **list = tpa_held_list(trace_of(view), TPROF_HELD_LARGEST, &count);

	if (count)
		tpa_headline(page, "The largest holders: what would be freed if they went");
	for (size_t i = 0; i < count; i++) {
		struct tpa_holder_path path;
		char text[2000], shorter[2000];

		if (!tpa_holder_path(trace_of(view), list[i], &path))
			continue;
		tpa_holder_path_text(trace_of(view), view->listing.symbols[view->process], &path, path.count, text,
				     sizeof(text));
		fputs("  ", page->out);
		tpa_print(page, TPA_STYLE_NUMBER, "%11s", tpa_bytes(list[i]->bytes, page->exact).text);
		fprintf(page->out, " in %s block%s  %s\n", tpa_count(list[i]->blocks).text, tpa_plural(list[i]->blocks),
			tpa_shorten(page, text, page->width - 34, shorter, sizeof(shorter)));
	}
	free(list);
}

static void print_doubts(const struct tpa_growth_view *view)
{
	const struct tpa_page *page = view->listing.page;
	const struct tpa_trace *trace = trace_of(view);
	char text[300];

	fputc('\n', page->out);
	for (size_t i = 0; i < DOUBTS; i++) {
		tpa_holder_doubt(trace, i, text, sizeof(text));
		if (text[0])
			tpa_print(page, TPA_STYLE_DIM, "  %s\n", text);
	}
	tpa_print(page, TPA_STYLE_DIM, "  the search took %s and %s\n", tpa_time(trace->holders.ns).text,
		  tpa_bytes(trace->holders.memory, page->exact).text);
}

void tpa_holders_print(const struct tpa_growth_view *view)
{
	const struct tpa_page *page = view->listing.page;
	const struct tpa_trace *trace = trace_of(view);

	if (!trace->holders.ticks) {
		fputs("\n  no search was made: TPROF_LEAKCHECK=exit makes one when the program exits, tprof ctl PID "
		      "holders while it runs\n",
		      page->out);
		return;
	}
	print_largest(view);
	print_stacks(view);
	print_doubts(view);
}
