/* SPDX-License-Identifier: Apache-2.0 */
/* What is not the heap's: mappings that grow; and what the process's memory is made of, in a table whose lines add up. */
#include "report/growth_listing.h"

static void print_mapping(const struct tp_growth_view *view, const struct tp_growth_site *site, size_t number)
{
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_page *page = view->listing.page;

	fprintf(page->out, "\n%4zu. ", number);
	tp_print(page, TP_STYLE_NUMBER, "%s a %s", tp_growth_rate(view, site->rate).text, tp_growth_unit(stats));
	fprintf(page->out, " (95%% interval %s to ", tp_growth_rate(view, site->low).text);
	fprintf(page->out, "%s) of %s; %s by %s, since ", tp_growth_rate(view, site->high).text,
		site->file ? "files mapped" : "address space, by mmap", tp_bytes(site->bytes, page->exact).text,
		tp_growth_place(stats, stats->last).text);
	fprintf(page->out, "%s\n", tp_growth_place(stats, site->since).text);
	tp_listing_print_stack(&view->listing, view->process, site->node);
}

size_t tp_growth_print_maps(const struct tp_growth_view *view, size_t printed)
{
	const struct tp_growth_list *maps = &tp_growth_stats_of(view)->maps;
	uint64_t top = view->listing.top;
	size_t before = printed, hidden = 0;

	if (view->pooled)
		return printed;
	for (size_t i = 0; i < maps->leaks; i++) {
		if (!tp_growth_shown(view, maps->list[i].node))
			continue;
		if (!top || printed - before < top)
			print_mapping(view, &maps->list[i], ++printed);
		else
			hidden++;
	}
	if (hidden)
		tp_print(view->listing.page, TP_STYLE_DIM, "\n      and %zu more mappings (--top 0 shows all)\n",
			 hidden);
	return printed;
}

static void add_line(const struct tp_growth_view *view, struct tp_table *table, const char *what,
		     const struct tp_growth_line *line)
{
	const struct tp_page *page = view->listing.page;
	char interval[100];

	snprintf(interval, sizeof(interval), "%.40s to %.40s", tp_growth_rate(view, line->low).text,
		 tp_growth_rate(view, line->high).text);
	tp_table_add(table, TP_STYLE_PLAIN, what);
	tp_table_add(table, TP_STYLE_PLAIN, tp_bytes(line->first, page->exact).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_bytes(line->last, page->exact).text);
	tp_table_add(table, TP_STYLE_NUMBER, tp_growth_rate(view, line->rate).text);
	tp_table_add(table, TP_STYLE_PLAIN, interval);
	tp_table_add(table, TP_STYLE_PLAIN,
		     line->verdict == TP_VERDICT_LEAK ? "grows" : tp_verdict_name(line->verdict, false));
}

void tp_growth_print_parts(const struct tp_growth_view *view)
{
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_page *page = view->listing.page;
	struct tp_table *table;

	if (!stats->rss.last)
		return;
	table = tp_table_new(stats->seconds ? "|>at first|>at last|>a second|>95% interval|"
					    : "|>at first|>at last|>a step|>95% interval|");
	if (!table)
		return;
	tp_headline(page, "What the process's memory (RSS) is made of");
	add_line(view, table, "live blocks", &stats->live);
	add_line(view, table, "anonymous mmap", &stats->anonymous);
	add_line(view, table, "the rest", &stats->rest);
	add_line(view, table, "RSS", &stats->rss);
	if (stats->file.last)
		add_line(view, table, "mapped files", &stats->file);
	tp_table_print(table, page, 2);
	tp_table_free(table);
	tp_print(page, TP_STYLE_DIM,
		 "  the rest: code, stacks, the allocator's own and its free pages (fragmentation), less what was "
		 "asked for "
		 "and not touched\n");
	if (stats->rest.verdict == TP_VERDICT_LEAK && stats->rest.low > 0)
		tp_print(page, TP_STYLE_WARN,
			 "  it grows, and live blocks do not as much: fragmentation, or memory from past the hooks\n");
}
