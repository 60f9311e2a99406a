/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/site_report.h"
#include "base/memory.h"
#include "base/order.h"
#include "commands/parts/copied_report.h"
#include "commands/parts/cover_report.h"
#include "commands/parts/processes.h"
#include "commands/parts/role_report.h"
#include "model/result/rank_of.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/columns.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"
#include "report/text/resident_listing.h"
#include "trace/checkpoint.h"

#define MOST_PROCESSES 20 /* that get a row without --full or --top 0 */

uint64_t tpa_top(const struct tpa_options *options, uint64_t text_default)
{
	if (options->top_set)
		return options->top;
	return options->json ? 100 : text_default;
}

struct tpa_rows *tpa_session_rows(struct tpa_session *session, size_t process, enum tpa_by by, enum tpa_what what,
				  const char *sort, struct tpa_suppressions *suppressions, uint64_t top)
{
	const struct tpa_options *options = session->options;
	bool all = process == session->run->process_count;
	struct tpa_rows_options rows_options = { .by = by,
						 .what = what,
						 .filter = session->filter,
						 .suppressions = suppressions,
						 .sort = sort ? sort : options->sort,
						 .top = top,
						 .held_last = what == TPA_WHAT_UNFREED && !options->json };
	struct tpa_rows_builder *builder;

	if (by == TPA_BY_STACK && !session->stacks)
		session->stacks = tpa_site_stacks_new(session->run->process_count);
	rows_options.stacks = session->stacks;
	builder = tpa_rows_begin(&rows_options);
	for (size_t i = all ? 0 : process; i < (all ? process : process + 1); i++)
		tpa_rows_add(builder, &session->run->processes[i], i, tpa_session_symbols(session, i));
	return tpa_rows_end(builder);
}

/* Did only built-in rules match? */
static bool only_built_in(const struct tpa_suppressions *suppressions)
{
	size_t count;
	const struct tpa_suppression *rules = tpa_suppressions_list(suppressions, &count);

	for (size_t i = 0; i < count; i++)
		if (rules[i].sites && strcmp(rules[i].source, "built-in") != 0)
			return false;
	return true;
}

void tpa_suppressed_print(const struct tpa_page *page, const struct tpa_suppressions *suppressions,
			  const struct tpa_rows *rows, double least)
{
	const struct tpa_sums *sums = &rows->suppressed;
	struct tpa_numbers numbers = { page, rows->unseen };
	bool built_in = only_built_in(suppressions);

	if (built_in && (double)sums->live_bytes < least * (double)rows->all.live_bytes)
		return;
	if (rows->suppressed_sites)
		tpa_print(page, TPA_STYLE_DIM, "\n%s: %s in %s block%s of %zu stack%s\n",
			  built_in ? "left out by tprof's built-in list" : "suppressed",
			  tpa_some_bytes(&numbers, sums->live_bytes, sums->variance.live_bytes).text,
			  tpa_some_count(&numbers, sums->live_blocks, sums->variance.live_blocks).text,
			  tpa_plural(rows->suppressed.live_blocks), rows->suppressed_sites,
			  tpa_plural(rows->suppressed_sites));
}

static bool has_checkpoint(const struct tpa_run *run)
{
	bool found = false;

	for (size_t i = 0; i < run->process_count; i++)
		found = found || tpa_trace_checkpoint(run->processes[i].trace);
	return found;
}

/* Adding up the RSS of each process, as one does from ps, counts shared pages again. */
static void print_resident(const struct tpa_page *page, const struct tpa_run *run)
{
	const struct tpa_resident_together *resident = &run->resident;

	if (!resident->rss)
		return;
	fprintf(page->out, "  resident memory (RSS) of all together: %s at most, each page counted once",
		tpa_bytes(resident->rss, page->exact).text);
	if (resident->separate > resident->rss)
		fprintf(page->out, " (the RSS of each, added up: %s)", tpa_bytes(resident->separate, page->exact).text);
	fputc('\n', page->out);
}

/* If `most` processes get a row: how many bytes the last of them has; *equal: how many of those with that many get one. */
static uint64_t least_shown(const struct tpa_run *run, size_t most, size_t *equal)
{
	uint64_t *bytes = tpa_zalloc(run->process_count, sizeof(*bytes)), least;

	for (size_t i = 0; i < run->process_count; i++)
		bytes[i] = run->processes[i].combined_peak_bytes;
	TPA_SORT_NUMBERS(bytes, run->process_count);
	least = bytes[run->process_count - most];
	for (*equal = 0; *equal < most && bytes[run->process_count - most + *equal] == least;)
		++*equal;
	free(bytes);
	return least;
}

static size_t shown_processes(const struct tpa_session *session)
{
	size_t count = session->run->process_count;
	bool all = session->options->full || (session->options->top_set && !session->options->top);

	return all || count < MOST_PROCESSES ? count : MOST_PROCESSES;
}

void tpa_combined_print(struct tpa_session *session)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_run *run = session->run;
	struct tpa_numbers numbers = { page, tpa_run_unseen(run) };
	static const char keys[] = "pid *bytes share own_peak end";
	struct tpa_table *table = tpa_columns_begin(page, tpa_process_columns, keys, "*program");
	size_t most = shown_processes(session), equal;
	uint64_t least = least_shown(run, most, &equal);
	struct tpa_rank_of *rank_of = tpa_rank_of_each(run);
	char label[900];

	tpa_headline(page, "All %zu processes: %s at %s, when they held most together", run->process_count,
		     tpa_some_bytes(&numbers, run->peak_bytes, run->peak_variance).text,
		     tpa_time(run->peak_time_ns).text);
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tpa_process *process = &run->processes[i];

		const struct tpa_row_context context = { .unseen = process->unseen, .whole = run->peak_bytes };

		if (process->combined_peak_bytes < least || (process->combined_peak_bytes == least && !equal))
			continue;
		equal -= process->combined_peak_bytes == least;
		tpa_columns_add(table, page, tpa_process_columns, keys, process, &context);
		tpa_table_add(table, TPA_STYLE_PLAIN,
			      tpa_process_label_of(run, process, &rank_of[i], page, label, sizeof(label)));
	}
	free(rank_of);
	tpa_table_end(table, page);
	if (most < run->process_count)
		fprintf(page->out, "  and %zu more processes that held no more (--top 0 shows all)\n",
			run->process_count - most);
	fprintf(page->out, "  %zu of them lived at one time at most\n", run->most_at_once);
	print_resident(page, run);
	if (tpa_run_cpu_ns(run))
		fprintf(page->out, "  CPU time of all together: %s\n", tpa_time(tpa_run_cpu_ns(run)).text);
	tpa_copied_print(session, page);
	if (has_checkpoint(run))
		tpa_print(page, TPA_STYLE_DIM,
			  "  of rings, what each process held at its checkpoint counts for the time before it\n");
	tpa_roles_print(session);
}

void tpa_scope_print(const struct tpa_session *session)
{
	const struct tpa_options *options = session->options;
	const struct tpa_page *page = &session->page;

	if (options->from_ns || options->to_ns)
		tpa_print(page, TPA_STYLE_WARN, "only what happened from %s to %s of the run\n",
			  tpa_time(options->from_ns).text, options->to_ns ? tpa_time(options->to_ns).text : "the end");
	if (options->thread)
		tpa_print(page, TPA_STYLE_WARN, "only thread %" PRIu32 "\n", options->thread);
	if (options->filter)
		tpa_print(page, TPA_STYLE_WARN, "rows: only stacks that match %s\n", options->filter);
}

void tpa_next_print(const struct tpa_page *page, const char *format, ...)
{
	va_list args;

	fprintf(page->out, "\n%snext: ", tpa_style_on(page, TPA_STYLE_TITLE));
	va_start(args, format);
	vfprintf(page->out, format, args);
	va_end(args);
	fprintf(page->out, "%s\n", tpa_style_off(page));
}

struct tpa_names tpa_trace_names(const struct tpa_session *session)
{
	struct tpa_names names = { "" };
	const struct tpa_options *options = session->options;
	bool all = options->named_traces == options->trace_count + options->left_out_count;
	const char *const *list = all ? options->named : options->traces;
	size_t used = 0, count = all ? options->named_count : options->trace_count;

	for (size_t i = 0; i < count && used + 8 < sizeof(names.text); i++) {
		char *end = names.text + used;
		size_t left = sizeof(names.text) - used;
		int more = snprintf(end, left, "%s%s", i ? " " : "", list[i]);

		if (more < 0 || (size_t)more >= left || i == 3) {
			snprintf(end, left, " ...");
			break;
		}
		used += (size_t)more;
	}
	return names;
}

void tpa_next_coverage_print(const struct tpa_session *session)
{
	tpa_next_print(
		&session->page,
		"tprof-analyze info %s   says what was hooked, what was not, and how much CPU time is outside of "
		"all ops",
		tpa_trace_names(session).text);
}

void tpa_session_print_makeup(struct tpa_session *session, size_t process, const struct tpa_makeup_moment *moment,
			      const char *title, uint64_t top)
{
	const struct tpa_options *options = session->options;
	struct tpa_listing listing = { .page = &session->page,
				       .run = session->run,
				       .symbols = session->symbols,
				       .by = options->by,
				       .top = tpa_top(options, top) };

	if (options->filter || options->thread)
		return; /* the makeup covers the whole process */
	tpa_session_symbols(session, process);
	tpa_makeup_print(&listing, process, moment, title);
}

static struct tpa_listing listing_of(struct tpa_session *session, const struct tpa_site_report *report)
{
	return (struct tpa_listing){
		.page = &session->page,
		.run = session->run,
		.symbols = session->symbols,
		.by = session->options->by,
		.what = report->what,
		.top = tpa_top(session->options, 10),
		.hotspots = report->hotspots,
	};
}

static bool has_private(const struct tpa_trace *trace)
{
	for (size_t i = 0; i < trace->unseen_count; i++)
		if (!trace->unseen[i].pool)
			return true;
	return false;
}

/* Why there are no rows. Allocations that were not recorded or not sampled may exist all the same. */
static const char *nothing_of(const struct tpa_session *session, const struct tpa_site_report *report, size_t process,
			      const struct tpa_rows *rows)
{
	const struct tpa_run *run = session->run;

	if (session->options->filter)
		return "nothing matches the filter";
	if (tpa_rows_estimated(rows))
		return rows->suppressed_sites ? "no other block that was sampled" : "no block that was sampled";
	for (size_t i = 0; i < run->process_count; i++)
		if ((i == process || process == run->process_count) && tpa_heap_unseen(&run->processes[i]))
			return "no allocation was recorded";
	for (size_t i = 0; i < run->process_count; i++)
		if ((i == process || process == run->process_count) && has_private(run->processes[i].trace))
			return report->nothing_seen ? report->nothing_seen
						    : "nothing that was seen; another allocator's blocks are not";
	return rows->suppressed_sites ? report->nothing_besides : report->nothing;
}

/* Returns false if the cover has no row. */
static bool print_cover(struct tpa_session *session, size_t process)
{
	struct tpa_cover *cover = tpa_session_peak_cover(session, process, TPA_COVER_ROWS);
	bool any = cover->count > 0;

	if (any)
		fputc('\n', session->page.out);
	tpa_peak_cover_print(session, cover);
	tpa_cover_free(cover);
	return any;
}

static void print_rows(struct tpa_session *session, const struct tpa_site_report *report, size_t process)
{
	struct tpa_suppressions *suppressions = report->suppress ? tpa_session_suppressions(session) : NULL;
	struct tpa_listing listing = listing_of(session, report);
	struct tpa_rows *rows =
		tpa_session_rows(session, process, session->options->by, report->what, NULL, suppressions, listing.top);

	if (!rows->count)
		fprintf(session->page.out, "\n  %s\n", nothing_of(session, report, process, rows));
	tpa_listing_print(&listing, rows);
	if (suppressions)
		tpa_suppressed_print(&session->page, suppressions, rows, 0);
	tpa_rows_free(rows);
	tpa_suppressions_free(suppressions);
}

static bool anything(const struct tpa_run *run, const struct tpa_site_report *report)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].heap.allocations || run->processes[i].heap.peak_blocks ||
		    (report->before && run->processes[i].cpu.samples))
			return true;
	return false;
}

static void print_process(struct tpa_session *session, size_t index)
{
	const struct tpa_site_report *report = session->argument;
	const struct tpa_process *process = &session->run->processes[index];

	tpa_process_print(process, &session->page);
	tpa_scope_print(session);
	if (report->before)
		report->before(session, index);
	if (!report->nothing_else)
		report->heading(session, process);
	if (!report->nothing_else && !(session->options->cover && print_cover(session, index)))
		print_rows(session, report, index);
	if (report->after)
		report->after(session, index);
	if (!report->hotspots) /* hotspots prints it in its CPU section */
		tpa_coverage_print(&session->page, process);
}

static void print_combined(struct tpa_session *session, const struct tpa_site_report *report)
{
	size_t all = session->run->process_count;

	if (!report->nothing_else)
		tpa_combined_print(session);
	if (report->before)
		report->before(session, all);
	if (report->additive && !report->nothing_else) {
		report->combined_heading(session);
		print_rows(session, report, all);
	}
}

static void print_end(struct tpa_session *session)
{
	const struct tpa_site_report *report = session->argument;

	if (session->run->process_count > 1)
		print_combined(session, report);
	if (anything(session->run, report))
		report->next(session);
	else
		tpa_next_print(&session->page, "tprof-analyze info %s   says what was recorded, and what was not",
			       tpa_trace_names(session).text);
}

/* The rows of one or all processes, as the value of the report's key. */
static json_t *json_report(struct tpa_session *session, const struct tpa_site_report *report, size_t process)
{
	struct tpa_suppressions *suppressions = report->suppress ? tpa_session_suppressions(session) : NULL;
	const struct tpa_options *options = session->options;
	uint64_t top = tpa_top(options, 100);
	struct tpa_rows *rows = tpa_session_rows(session, process, options->by, report->what, NULL, suppressions, top);
	json_t *json = json_object();

	tpa_json_set(json, "by", json_string(tpa_by_name(options->by)));
	tpa_json_some(json, "bytes", tpa_sums_bytes(&rows->sums, report->what),
		      tpa_sums_bytes_variance(&rows->sums, report->what), rows->unseen.bytes);
	tpa_json_some(json, "blocks", tpa_sums_blocks(&rows->sums, report->what),
		      tpa_sums_blocks_variance(&rows->sums, report->what), rows->unseen.blocks);
	tpa_json_set(json, "sites_total", json_integer((json_int_t)rows->count));
	if (suppressions)
		tpa_json_set(json, "suppressed", tpa_json_suppressed(rows, suppressions));
	if (options->by == TPA_BY_STACK && !report->hotspots)
		tpa_json_set(json, "held", tpa_json_held(rows, report->what));
	tpa_json_set(json, "sites",
		     tpa_json_rows(session->run, session->symbols, rows, options->by, report->shape, top));
	tpa_rows_free(rows);
	tpa_suppressions_free(suppressions);
	return json;
}

static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	const struct tpa_site_report *report = session->argument;

	tpa_json_set(json, "heap", tpa_json_heap(&session->run->processes[index]));
	tpa_json_set(json, report->key, json_report(session, report, index));
	if (!report->hotspots)
		tpa_json_set(json, "memory", tpa_makeup_json(session->run, index, session->symbols));
	if (report->before_json)
		report->before_json(session, index, json);
}

static void combine(struct tpa_session *session, json_t *combined)
{
	const struct tpa_site_report *report = session->argument;
	size_t all = session->run->process_count;

	if (report->additive)
		tpa_json_set(combined, report->key, json_report(session, report, all));
	if (report->before_json)
		report->before_json(session, all, combined);
}

static enum tpa_group group_of(enum tpa_by by)
{
	switch (by) {
	case TPA_BY_THREAD:
		return TPA_GROUP_THREAD;
	case TPA_BY_SIZE:
		return TPA_GROUP_SIZE;
	case TPA_BY_STEP:
		return TPA_GROUP_STEP;
	case TPA_BY_LAYER:
		return TPA_GROUP_LAYER;
	default:
		return TPA_GROUP_STACK;
	}
}

int tpa_site_report(const struct tpa_options *options, const struct tpa_site_report *report)
{
	const struct tpa_report sections = { .symbols = true,
					     .print = print_process,
					     .print_end = print_end,
					     .json = json_process,
					     .combine = combine,
					     .argument = report };

	return tpa_report_run(options, group_of(options->by), &sections);
}
