/* SPDX-License-Identifier: Apache-2.0 */
/* The makeup of the process's memory, in a table whose lines add up. */
#include "report/text/growth_listing.h"

static void add_line(const struct tpa_growth_view *view, struct tpa_table *table, const char *what,
		     const struct tpa_growth_line *line)
{
	bool exact = view->listing.page->exact;

	tpa_table_add(table, TPA_STYLE_PLAIN, what);
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_signed_bytes(line->first, exact));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_signed_bytes(line->last, exact));
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_growth_rate(view, line->rate));
	tpa_cell(
		table, TPA_STYLE_PLAIN,
		tpa_text_of("%s to %s", tpa_growth_rate(view, line->low).text, tpa_growth_rate(view, line->high).text));
	tpa_table_add(table, TPA_STYLE_PLAIN,
		      line->verdict == TPA_VERDICT_LEAK ? "grows" : tpa_verdict_name(line->verdict, false));
}

/* For a trace without RSS details: lines from mappings and live blocks alone. */
static void add_rough_lines(const struct tpa_growth_view *view, struct tpa_table *table)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);

	if (!tpa_growth_unknown(view))
		add_line(view, table, "live blocks", &stats->live);
	add_line(view, table, "anonymous mmap", &stats->anonymous);
	add_line(view, table, "the rest", &stats->rest);
	add_line(view, table, "RSS", &stats->rss);
	if (stats->file.last)
		add_line(view, table, "mapped files", &stats->file);
}

/* Does a part that smaps shows get its own line? Otherwise it stays in the line that it was taken from. */
static bool matters(const struct tpa_growth_stats *stats, enum tpa_growth_fine part)
{
	const struct tpa_growth_line *line = &stats->fine[part];
	int64_t most = line->first > line->last ? line->first : line->last;
	int64_t rss = stats->rss.first > stats->rss.last ? stats->rss.first : stats->rss.last;

	return stats->fine_known && most >= 1 << 20 && most >= rss / 50;
}

static void add_part_lines(const struct tpa_growth_view *view, struct tpa_table *table)
{
	static const char *const names[TPA_PARTS] = {
		[TPA_PART_LIVE] = "live blocks",      [TPA_PART_ALLOCATOR] = "the allocator's",
		[TPA_PART_MAPPED] = "anonymous mmap", [TPA_PART_FILES] = "files, shared memory",
		[TPA_PART_STACKS] = "stacks",	      [TPA_PART_COLLECTOR] = "tprof's own tables",
	};
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_line *fine = stats->fine;
	bool unknown = tpa_growth_unknown(view);
	bool data = matters(stats, TPA_FINE_STATIC) || matters(stats, TPA_FINE_UNSEEN);
	bool shared = matters(stats, TPA_FINE_SHARED);

	for (int part = 0; part < TPA_PARTS; part++) {
		const struct tpa_growth_line *line = &stats->parts[part];
		const char *name = part == TPA_PART_ALLOCATOR && unknown ? "the heap" : names[part];

		if (part == TPA_PART_LIVE && unknown)
			continue;
		if (part == TPA_PART_ALLOCATOR && data)
			line = &fine[TPA_FINE_ALLOCATOR];
		if (part == TPA_PART_FILES && shared)
			add_line(view, table, "shared memory", &fine[TPA_FINE_SHARED]);
		if (part == TPA_PART_FILES && shared)
			add_line(view, table, "files", &fine[TPA_FINE_FILES]);
		else
			add_line(view, table, name, line);
		if (part == TPA_PART_ALLOCATOR && data)
			add_line(view, table, "static data (.data, .bss)", &fine[TPA_FINE_STATIC]);
		if (part == TPA_PART_ALLOCATOR && fine[TPA_FINE_UNSEEN].last)
			add_line(view, table, "mapped past the hooks", &fine[TPA_FINE_UNSEEN]);
	}
	add_line(view, table, "RSS", &stats->rss);
}

static void print_meaning(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_line *rest = stats->fine_known	  ? &stats->fine[TPA_FINE_ALLOCATOR]
					     : stats->parts_known ? &stats->parts[TPA_PART_ALLOCATOR]
								  : &stats->rest;
	bool data = matters(stats, TPA_FINE_STATIC) || matters(stats, TPA_FINE_UNSEEN);
	bool judged = stats->fine_known && view->listing.run->processes[view->process].makeup.judged;
	const struct tpa_page *page = view->listing.page;

	if (tpa_growth_unknown(view)) {
		tpa_print(page, TPA_STYLE_DIM,
			  stats->parts_known ? "  the heap: live blocks, which were not recorded, with what the "
					       "allocator keeps; and modules' data\n"
					     : "  the rest: live blocks, which were not recorded, code, stacks, the "
					       "allocator's own\n");
		return;
	}
	tpa_print(page, TPA_STYLE_DIM,
		  data ? "  the allocator's: free memory that it keeps (fragmentation), rounding, headers; less "
			 "requested memory that was not touched\n"
		  : stats->parts_known ? "  the allocator's: free memory that it keeps (fragmentation), rounding, "
					 "headers; and modules' data; less requested memory that was not touched\n"
				       : "  the rest: code, stacks, the allocator's own and its free pages "
					 "(fragmentation), less requested memory that was not touched\n");
	if (matters(stats, TPA_FINE_UNSEEN))
		tpa_print(
			page, TPA_STYLE_DIM,
			"  mapped past the hooks: by the program's own system calls (mmap, brk), which tprof does not "
			"see\n");
	if (rest->verdict == TPA_VERDICT_LEAK && rest->low > 0)
		tpa_print(page, TPA_STYLE_WARN,
			  judged ? "  it grows, and live blocks grow less: fragmentation\n"
				 : "  it grows, and live blocks grow less: fragmentation, or memory from past the "
				   "hooks\n");
}

static struct tpa_table *new_table(const struct tpa_growth_view *view)
{
	return tpa_table_new(tpa_growth_stats_of(view)->seconds ? "|>at first|>at last|>a second|>95% interval|"
								: "|>at first|>at last|>a step|>95% interval|");
}

/* Prints the parts of the allocator's line, if the allocator reports them. */
static void print_allocator(const struct tpa_growth_view *view)
{
	static const char *const names[TPA_ALLOCATOR_LINES] = {
		[TPA_ALLOCATOR_LIVE] = "live blocks",	     [TPA_ALLOCATOR_ROUNDING] = "rounding, threads' caches",
		[TPA_ALLOCATOR_FRAGMENTS] = "fragmentation", [TPA_ALLOCATOR_FREE] = "free pages kept",
		[TPA_ALLOCATOR_METADATA] = "metadata",	     [TPA_ALLOCATOR_RESIDENT] = "resident",
		[TPA_ALLOCATOR_RETAINED] = "retained",
	};
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_growth_line *fragments = &stats->allocator[TPA_ALLOCATOR_FRAGMENTS];
	const struct tpa_page *page = view->listing.page;
	struct tpa_table *table = stats->allocator_known ? new_table(view) : NULL;

	if (!table)
		return;
	tpa_headline(page, "What jemalloc says that it holds");
	for (int line = 0; line < TPA_ALLOCATOR_LINES; line++)
		add_line(view, table, names[line], &stats->allocator[line]);
	tpa_table_end(table, page);
	tpa_print(page, TPA_STYLE_DIM,
		  "  fragmentation: free room in pages that hold blocks; retained: address space without memory\n");
	if (fragments->verdict == TPA_VERDICT_LEAK && fragments->low > 0)
		tpa_print(page, TPA_STYLE_WARN,
			  "  fragmentation grows: live blocks keep pages from being given back\n");
}

void tpa_growth_print_parts(const struct tpa_growth_view *view)
{
	const struct tpa_growth_stats *stats = tpa_growth_stats_of(view);
	const struct tpa_page *page = view->listing.page;
	struct tpa_table *table;

	if (!stats->rss.last)
		return;
	table = new_table(view);
	tpa_headline(page, "What the process's memory (RSS) is made of");
	if (stats->parts_known)
		add_part_lines(view, table);
	else
		add_rough_lines(view, table);
	tpa_table_end(table, page);
	print_meaning(view);
	print_allocator(view);
}
