/* SPDX-License-Identifier: Apache-2.0 */
/* What is not the heap's: mappings that grow; and what the process's memory is made of, in a table whose lines add up. */
#include "report/text/growth_listing.h"
#include "report/rows/known_caches.h"

static void print_mapping(const struct tp_growth_view *view, const struct tp_growth_site *site, size_t number)
{
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_page *page = view->listing.page;
	const char *holder =
		tp_holder_name(tp_mapping_holder(&view->listing.run->processes[view->process],
						 view->listing.symbols[view->process], site->node, site->file));

	fprintf(page->out, "\n%4zu. ", number);
	tp_print(page, TP_STYLE_NUMBER, "%s a %s", tp_growth_rate(view, site->rate).text, tp_growth_unit(stats));
	fprintf(page->out, " (95%% interval %s to ", tp_growth_rate(view, site->low).text);
	fprintf(page->out, "%s) of %s; %s by %s, since ", tp_growth_rate(view, site->high).text,
		site->file ? "files mapped" : "address space, by mmap", tp_bytes(site->bytes, page->exact).text,
		tp_growth_place(stats, stats->last).text);
	fprintf(page->out, "%s\n", tp_growth_place(stats, site->since).text);
	if (holder)
		tp_print(page, TP_STYLE_DIM, "        held by %s\n", holder);
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
		tp_print(view->listing.page, TP_STYLE_DIM, "\n      and %zu more mapping%s (--top 0 shows all)\n",
			 hidden, hidden == 1 ? "" : "s");
	return printed;
}

/* With a sign, where there is one. */
static struct tp_text signed_bytes(const struct tp_growth_view *view, int64_t bytes)
{
	uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
	struct tp_text text;

	snprintf(text.text, sizeof(text.text), "%s%.40s", bytes < 0 ? "-" : "",
		 tp_bytes(size, view->listing.page->exact).text);
	return text;
}

static void add_line(const struct tp_growth_view *view, struct tp_table *table, const char *what,
		     const struct tp_growth_line *line)
{
	char interval[100];

	snprintf(interval, sizeof(interval), "%.40s to %.40s", tp_growth_rate(view, line->low).text,
		 tp_growth_rate(view, line->high).text);
	tp_table_add(table, TP_STYLE_PLAIN, what);
	tp_table_add(table, TP_STYLE_PLAIN, signed_bytes(view, line->first).text);
	tp_table_add(table, TP_STYLE_PLAIN, signed_bytes(view, line->last).text);
	tp_table_add(table, TP_STYLE_NUMBER, tp_growth_rate(view, line->rate).text);
	tp_table_add(table, TP_STYLE_PLAIN, interval);
	tp_table_add(table, TP_STYLE_PLAIN,
		     line->verdict == TP_VERDICT_LEAK ? "grows" : tp_verdict_name(line->verdict, false));
}

/* Of a trace that does not say what RSS is made of: what can be told from mappings and live blocks alone. */
static void add_rough_lines(const struct tp_growth_view *view, struct tp_table *table)
{
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);

	if (!tp_growth_unknown(view))
		add_line(view, table, "live blocks", &stats->live);
	add_line(view, table, "anonymous mmap", &stats->anonymous);
	add_line(view, table, "the rest", &stats->rest);
	add_line(view, table, "RSS", &stats->rss);
	if (stats->file.last)
		add_line(view, table, "mapped files", &stats->file);
}

/* What the readings of smaps tell is shown where it matters; else it stays in the line that it was taken from. */
static bool matters(const struct tp_growth_stats *stats, enum tp_growth_fine part)
{
	const struct tp_growth_line *line = &stats->fine[part];
	int64_t most = line->first > line->last ? line->first : line->last;
	int64_t rss = stats->rss.first > stats->rss.last ? stats->rss.first : stats->rss.last;

	return stats->fine_known && most >= 1 << 20 && most >= rss / 50;
}

static void add_part_lines(const struct tp_growth_view *view, struct tp_table *table)
{
	static const char *const names[TP_PARTS] = {
		[TP_PART_LIVE] = "live blocks",	     [TP_PART_ALLOCATOR] = "the allocator's",
		[TP_PART_MAPPED] = "anonymous mmap", [TP_PART_FILES] = "files, shared memory",
		[TP_PART_STACKS] = "stacks",	     [TP_PART_COLLECTOR] = "tprof's own tables",
	};
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_growth_line *fine = stats->fine;
	bool unknown = tp_growth_unknown(view);
	bool data = matters(stats, TP_FINE_STATIC) || matters(stats, TP_FINE_UNSEEN);
	bool shared = matters(stats, TP_FINE_SHARED);

	for (int part = 0; part < TP_PARTS; part++) {
		const struct tp_growth_line *line = &stats->parts[part];
		const char *name = part == TP_PART_ALLOCATOR && unknown ? "the heap" : names[part];

		if (part == TP_PART_LIVE && unknown)
			continue;
		if (part == TP_PART_ALLOCATOR && data)
			line = &fine[TP_FINE_ALLOCATOR];
		if (part == TP_PART_FILES && shared)
			add_line(view, table, "shared memory", &fine[TP_FINE_SHARED]);
		if (part == TP_PART_FILES && shared)
			add_line(view, table, "files", &fine[TP_FINE_FILES]);
		else
			add_line(view, table, name, line);
		if (part == TP_PART_ALLOCATOR && data)
			add_line(view, table, "static data (.data, .bss)", &fine[TP_FINE_STATIC]);
		if (part == TP_PART_ALLOCATOR && fine[TP_FINE_UNSEEN].last)
			add_line(view, table, "mapped past the hooks", &fine[TP_FINE_UNSEEN]);
	}
	add_line(view, table, "RSS", &stats->rss);
}

static void print_meaning(const struct tp_growth_view *view)
{
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_growth_line *rest = stats->fine_known	 ? &stats->fine[TP_FINE_ALLOCATOR]
					    : stats->parts_known ? &stats->parts[TP_PART_ALLOCATOR]
								 : &stats->rest;
	bool data = matters(stats, TP_FINE_STATIC) || matters(stats, TP_FINE_UNSEEN);
	bool judged = stats->fine_known && view->listing.run->processes[view->process].makeup.judged;
	const struct tp_page *page = view->listing.page;

	if (tp_growth_unknown(view)) {
		tp_print(page, TP_STYLE_DIM,
			 stats->parts_known ? "  the heap: live blocks, which were not recorded, with what the "
					      "allocator keeps; and modules' data\n"
					    : "  the rest: live blocks, which were not recorded, code, stacks, the "
					      "allocator's own\n");
		return;
	}
	tp_print(page, TP_STYLE_DIM,
		 data ? "  the allocator's: free memory that it keeps (fragmentation), rounding, headers; less "
			"requested memory that was not touched\n"
		 : stats->parts_known ? "  the allocator's: free memory that it keeps (fragmentation), rounding, "
					"headers; and modules' data; less requested memory that was not touched\n"
				      : "  the rest: code, stacks, the allocator's own and its free pages "
					"(fragmentation), less requested memory that was not touched\n");
	if (matters(stats, TP_FINE_UNSEEN))
		tp_print(page, TP_STYLE_DIM,
			 "  mapped past the hooks: by the program's own system calls (mmap, brk), which tprof does not "
			 "see\n");
	if (rest->verdict == TP_VERDICT_LEAK && rest->low > 0)
		tp_print(page, TP_STYLE_WARN,
			 judged ? "  it grows, and live blocks grow less: fragmentation\n"
				: "  it grows, and live blocks grow less: fragmentation, or memory from past the "
				  "hooks\n");
}

static struct tp_table *new_table(const struct tp_growth_view *view)
{
	return tp_table_new(tp_growth_stats_of(view)->seconds ? "|>at first|>at last|>a second|>95% interval|"
							      : "|>at first|>at last|>a step|>95% interval|");
}

/* What the allocator's line is made of, where the allocator says it. */
static void print_allocator(const struct tp_growth_view *view)
{
	static const char *const names[TP_ALLOCATOR_LINES] = {
		[TP_ALLOCATOR_LIVE] = "live blocks",	    [TP_ALLOCATOR_ROUNDING] = "rounding, threads' caches",
		[TP_ALLOCATOR_FRAGMENTS] = "fragmentation", [TP_ALLOCATOR_FREE] = "free pages kept",
		[TP_ALLOCATOR_METADATA] = "metadata",	    [TP_ALLOCATOR_RESIDENT] = "resident",
		[TP_ALLOCATOR_RETAINED] = "retained",
	};
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_growth_line *fragments = &stats->allocator[TP_ALLOCATOR_FRAGMENTS];
	const struct tp_page *page = view->listing.page;
	struct tp_table *table = stats->allocator_known ? new_table(view) : NULL;

	if (!table)
		return;
	tp_headline(page, "What jemalloc says that it holds");
	for (int line = 0; line < TP_ALLOCATOR_LINES; line++)
		add_line(view, table, names[line], &stats->allocator[line]);
	tp_table_print(table, page, 2);
	tp_table_free(table);
	tp_print(page, TP_STYLE_DIM,
		 "  fragmentation: free room in pages that hold blocks; retained: address space without memory\n");
	if (fragments->verdict == TP_VERDICT_LEAK && fragments->low > 0)
		tp_print(page, TP_STYLE_WARN, "  fragmentation grows: live blocks keep pages from being given back\n");
}

void tp_growth_print_parts(const struct tp_growth_view *view)
{
	const struct tp_growth_stats *stats = tp_growth_stats_of(view);
	const struct tp_page *page = view->listing.page;
	struct tp_table *table;

	if (!stats->rss.last)
		return;
	table = new_table(view);
	tp_headline(page, "What the process's memory (RSS) is made of");
	if (stats->parts_known)
		add_part_lines(view, table);
	else
		add_rough_lines(view, table);
	tp_table_print(table, page, 2);
	tp_table_free(table);
	print_meaning(view);
	print_allocator(view);
}
