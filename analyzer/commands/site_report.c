/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/site_report.h"
#include "commands/processes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/text/coverage.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"
#include "report/text/resident_listing.h"

uint64_t tp_top(const struct tp_options *options, uint64_t text_default)
{
	if (options->top_set)
		return options->top;
	return options->json ? 100 : text_default;
}

struct tp_suppressions *tp_session_suppressions(const struct tp_session *session)
{
	struct tp_suppressions *suppressions = tp_suppressions_new();
	char *error = NULL;

	for (size_t i = 0; suppressions && i < session->options->suppression_count; i++)
		if (!tp_suppressions_read(suppressions, session->options->suppressions[i], &error)) {
			fprintf(stderr, "tprof-analyze: %s\n", error ? error : "out of memory");
			free(error);
			tp_suppressions_free(suppressions);
			return NULL;
		}
	if (!suppressions)
		tp_out_of_memory();
	return suppressions;
}

struct tp_rows *tp_session_rows(struct tp_session *session, size_t process, enum tp_by by, enum tp_what what,
				const char *sort, struct tp_suppressions *suppressions, uint64_t top)
{
	const struct tp_options *options = session->options;
	struct tp_rows_options rows_options = { .by = by,
						.what = what,
						.suppressions = suppressions,
						.sort = sort ? sort : options->sort,
						.top = top,
						.held_last = what == TP_WHAT_UNFREED && !options->json };
	size_t first = process, last = process + 1;
	struct tp_rows_builder *builder;
	struct tp_rows *rows;
	bool good = true;
	regex_t filter;

	if (by == TP_BY_STACK && !session->stacks)
		session->stacks = tp_site_stacks_new(session->run->process_count);
	if (by == TP_BY_STACK && !session->stacks)
		return NULL;
	rows_options.stacks = session->stacks;
	if (options->filter && regcomp(&filter, options->filter, REG_EXTENDED | REG_NOSUB) == 0)
		rows_options.filter = &filter;
	if (process == session->run->process_count)
		first = 0, last = process;
	builder = tp_rows_begin(&rows_options);
	for (size_t i = first; builder && good && i < last; i++) {
		struct tp_symbols *symbols = tp_session_symbols(session, i);

		good = symbols && tp_rows_add(builder, &session->run->processes[i], i, symbols);
	}
	rows = builder ? tp_rows_end(builder) : NULL;
	if (rows_options.filter)
		regfree(&filter);
	if (good)
		return rows;
	tp_rows_free(rows);
	return NULL;
}

void tp_suppressed_print(const struct tp_page *page, const struct tp_rows *rows)
{
	const struct tp_sums *sums = &rows->suppressed;
	struct tp_numbers numbers = { page, rows->unseen };

	if (rows->suppressed_sites)
		tp_print(page, TP_STYLE_DIM, "\nsuppressed: %s in %s block%s of %zu stack%s\n",
			 tp_some_bytes(&numbers, sums->live_bytes, sums->variance.live_bytes).text,
			 tp_some_count(&numbers, sums->live_blocks, sums->variance.live_blocks).text,
			 tp_plural(rows->suppressed.live_blocks), rows->suppressed_sites,
			 tp_plural(rows->suppressed_sites));
}

void tp_combined_print(const struct tp_session *session)
{
	const struct tp_page *page = &session->page;
	const struct tp_run *run = session->run;
	struct tp_numbers numbers = { page, tp_run_unseen(run) };
	struct tp_table *table = tp_table_new(">pid|>then|>%|>own peak|>at the end|*program");
	char pid[16], label[800];

	tp_headline(page, "All %zu processes: %s at %s, when they held most together", run->process_count,
		    tp_some_bytes(&numbers, run->peak_bytes, run->peak_variance).text, tp_time(run->peak_time_ns).text);
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tp_process *process = &run->processes[i];

		numbers.unseen = process->unseen;
		snprintf(pid, sizeof(pid), "%" PRIu32, process->trace->header->pid);
		tp_table_add(table, TP_STYLE_PLAIN, pid);
		tp_table_add(
			table, TP_STYLE_NUMBER,
			tp_some_bytes(&numbers, process->combined_peak_bytes, process->combined_peak_variance).text);
		tp_table_add(table, TP_STYLE_PLAIN,
			     tp_some_percent(&numbers, process->combined_peak_bytes, run->peak_bytes).text);
		tp_table_add(table, TP_STYLE_PLAIN,
			     tp_some_bytes(&numbers, process->heap.peak_bytes, process->heap.variance.peak_bytes).text);
		tp_table_add(table, TP_STYLE_PLAIN,
			     tp_some_bytes(&numbers, process->heap.end_bytes, process->heap.variance.live_bytes).text);
		tp_table_add(table, TP_STYLE_PLAIN, tp_process_label(run, process, page, label, sizeof(label)));
	}
	tp_table_print(table, page, 2);
	tp_table_free(table);
}

void tp_scope_print(const struct tp_session *session)
{
	const struct tp_options *options = session->options;
	const struct tp_page *page = &session->page;

	if (options->from_ns || options->to_ns)
		tp_print(page, TP_STYLE_WARN, "only what happened from %s to %s of the run\n",
			 tp_time(options->from_ns).text, options->to_ns ? tp_time(options->to_ns).text : "the end");
	if (options->thread)
		tp_print(page, TP_STYLE_WARN, "only thread %" PRIu32 "\n", options->thread);
	if (options->filter)
		tp_print(page, TP_STYLE_WARN, "rows: only stacks that match %s\n", options->filter);
}

void tp_next_print(const struct tp_page *page, const char *format, ...)
{
	va_list args;

	fprintf(page->out, "\n%snext: ", tp_style_on(page, TP_STYLE_TITLE));
	va_start(args, format);
	vfprintf(page->out, format, args);
	va_end(args);
	fprintf(page->out, "%s\n", tp_style_off(page));
}

const char *tp_trace_names(const struct tp_session *session, char *buffer, size_t size)
{
	const struct tp_options *options = session->options;
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < options->trace_count && used + 8 < size; i++) {
		int more = snprintf(buffer + used, size - used, "%s%s", i ? " " : "", options->traces[i]);

		if (more < 0 || (size_t)more >= size - used || i == 3) {
			snprintf(buffer + used, size - used, " ...");
			break;
		}
		used += (size_t)more;
	}
	return buffer;
}

void tp_next_coverage_print(const struct tp_session *session)
{
	char names[300];

	tp_next_print(&session->page,
		      "tprof-analyze info %s   says what was hooked, what was not, and how much CPU time is outside of "
		      "all ops",
		      tp_trace_names(session, names, sizeof(names)));
}

bool tp_session_print_makeup(struct tp_session *session, size_t process, const struct tp_makeup_moment *moment,
			     const char *title, uint64_t top)
{
	const struct tp_options *options = session->options;
	struct tp_listing listing = { .page = &session->page,
				      .run = session->run,
				      .symbols = session->symbols,
				      .by = options->by,
				      .top = tp_top(options, top) };

	if (options->filter || options->thread)
		return true; /* it is the whole process's */
	return tp_session_symbols(session, process) && tp_makeup_print(&listing, process, moment, title);
}

static struct tp_listing listing_of(struct tp_session *session, const struct tp_site_report *report)
{
	return (struct tp_listing){
		.page = &session->page,
		.run = session->run,
		.symbols = session->symbols,
		.by = session->options->by,
		.what = report->what,
		.top = tp_top(session->options, 10),
		.hotspots = report->hotspots,
	};
}

static bool has_private(const struct tp_trace *trace)
{
	for (size_t i = 0; i < trace->unseen_count; i++)
		if (!trace->unseen[i].pool)
			return true;
	return false;
}

/* Why there are no rows. What was not recorded, or not met by the samples, may be there all the same. */
static const char *nothing_of(const struct tp_session *session, const struct tp_site_report *report, size_t process,
			      const struct tp_rows *rows)
{
	const struct tp_run *run = session->run;

	if (session->options->filter)
		return "nothing matches the filter";
	if (tp_rows_estimated(rows))
		return rows->suppressed_sites ? "no other block that was sampled" : "no block that was sampled";
	for (size_t i = 0; i < run->process_count; i++)
		if ((i == process || process == run->process_count) && tp_heap_unseen(&run->processes[i]))
			return "no allocation was recorded";
	for (size_t i = 0; i < run->process_count; i++)
		if ((i == process || process == run->process_count) && has_private(run->processes[i].trace))
			return report->nothing_seen ? report->nothing_seen
						    : "nothing that was seen; another allocator's blocks are not";
	return rows->suppressed_sites ? report->nothing_besides : report->nothing;
}

static bool print_rows(struct tp_session *session, const struct tp_site_report *report, size_t process)
{
	struct tp_suppressions *suppressions = report->suppress ? tp_session_suppressions(session) : NULL;
	struct tp_listing listing = listing_of(session, report);
	struct tp_rows *rows =
		tp_session_rows(session, process, session->options->by, report->what, NULL, suppressions, listing.top);

	if (rows) {
		if (!rows->count)
			fprintf(session->page.out, "\n  %s\n", nothing_of(session, report, process, rows));
		tp_listing_print(&listing, rows);
		if (suppressions)
			tp_suppressed_print(&session->page, rows);
	}
	tp_rows_free(rows);
	tp_suppressions_free(suppressions);
	return rows != NULL;
}

static bool anything(const struct tp_run *run, const struct tp_site_report *report)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].heap.allocations || run->processes[i].heap.peak_blocks ||
		    (report->before && run->processes[i].cpu.samples))
			return true;
	return false;
}

static bool print_text(struct tp_session *session, const struct tp_site_report *report)
{
	char names[300];
	const struct tp_run *run = session->run;
	const struct tp_page *page = &session->page;
	bool good = true;

	for (size_t i = 0; good && i < run->process_count; i++) {
		struct tp_notes notes;

		if (i)
			fputs("\n\n", page->out);
		tp_process_print(&run->processes[i], page);
		tp_scope_print(session);
		good = !report->before || report->before(session, i);
		if (!report->nothing_else) {
			report->heading(session, &run->processes[i]);
			good = good && print_rows(session, report, i);
		}
		good = good && (!report->after || report->after(session, i));
		if (!report->hotspots) /* their CPU time has it above */
			tp_coverage_print(page, &run->processes[i]);
		tp_notes_collect(&notes, &run->processes[i], session->symbols[i]);
		tp_notes_print(&notes, page);
		tp_notes_free(&notes);
	}
	if (good && run->process_count > 1) {
		if (!report->nothing_else)
			tp_combined_print(session);
		good = !report->before || report->before(session, run->process_count);
		if (good && report->additive && !report->nothing_else) {
			report->combined_heading(session);
			good = print_rows(session, report, run->process_count);
		}
	}
	if (anything(run, report))
		report->next(session);
	else
		tp_next_print(page, "tprof-analyze info %s   says what was recorded, and what was not",
			      tp_trace_names(session, names, sizeof(names)));
	return good;
}

/* The rows of a process, or of all of them, as the value of the report's key. */
static json_t *json_report(struct tp_session *session, const struct tp_site_report *report, size_t process)
{
	struct tp_suppressions *suppressions = report->suppress ? tp_session_suppressions(session) : NULL;
	const struct tp_options *options = session->options;
	uint64_t top = tp_top(options, 100);
	struct tp_rows *rows = tp_session_rows(session, process, options->by, report->what, NULL, suppressions, top);
	json_t *json = rows ? json_object() : NULL;

	if (rows) {
		json_object_set_new(json, "by", json_string(tp_by_name(options->by)));
		tp_json_some(json, "bytes", tp_sums_bytes(&rows->sums, report->what),
			     tp_sums_bytes_variance(&rows->sums, report->what), rows->unseen.bytes);
		tp_json_some(json, "blocks", tp_sums_blocks(&rows->sums, report->what),
			     tp_sums_blocks_variance(&rows->sums, report->what), rows->unseen.blocks);
		json_object_set_new(json, "sites_total", json_integer((json_int_t)rows->count));
		if (suppressions)
			json_object_set_new(json, "suppressed", tp_json_suppressed(rows, suppressions));
		if (options->by == TP_BY_STACK && !report->hotspots)
			json_object_set_new(json, "held", tp_json_held(rows, report->what));
		json_object_set_new(
			json, "sites",
			tp_json_rows(session->run, session->symbols, rows, options->by, report->shape, top));
	}
	tp_rows_free(rows);
	tp_suppressions_free(suppressions);
	return json;
}

static json_t *json_process(struct tp_session *session, size_t index, const void *argument)
{
	const struct tp_site_report *report = argument;
	const struct tp_process *process = &session->run->processes[index];
	json_t *json = json_object(), *sites = json_report(session, report, index);

	if (!sites) {
		json_decref(json);
		return NULL;
	}
	json_object_set_new(json, "process", tp_json_process(process));
	json_object_set_new(json, "capture", tp_json_capture(process));
	json_object_set_new(json, "heap", tp_json_heap(process));
	json_object_set_new(json, report->key, sites);
	if (!report->hotspots)
		json_object_set_new(json, "memory", tp_makeup_json(session->run, index, session->symbols));
	if (report->before_json && !report->before_json(session, index, json)) {
		json_decref(json);
		return NULL;
	}
	json_object_set_new(json, "notes", tp_json_notes(process, session->symbols[index]));
	return json;
}

static bool combine(struct tp_session *session, json_t *combined, const void *argument)
{
	const struct tp_site_report *report = argument;
	size_t all = session->run->process_count;
	bool good = true;

	if (report->additive)
		good = json_object_set_new(combined, report->key, json_report(session, report, all)) == 0;
	return good && (!report->before_json || report->before_json(session, all, combined));
}

static enum tp_group group_of(enum tp_by by)
{
	switch (by) {
	case TP_BY_THREAD:
		return TP_GROUP_THREAD;
	case TP_BY_SIZE:
		return TP_GROUP_SIZE;
	case TP_BY_STEP:
		return TP_GROUP_STEP;
	case TP_BY_LAYER:
		return TP_GROUP_LAYER;
	default:
		return TP_GROUP_STACK;
	}
}

int tp_site_report(const struct tp_options *options, const struct tp_site_report *report)
{
	const struct tp_process_report in_json = { .process = json_process, .combine = combine, .argument = report };
	struct tp_suppressions *suppressions;
	struct tp_session session;
	int status = tp_session_open(&session, options);

	if (status != TP_EXIT_OK)
		return status;
	if (report->suppress) { /* a bad file is better known before a long replay */
		suppressions = tp_session_suppressions(&session);
		if (!suppressions)
			return tp_session_close(&session, TP_EXIT_USAGE);
		tp_suppressions_free(suppressions);
	}
	status = tp_session_replay(&session, group_of(options->by));
	if (status != TP_EXIT_OK)
		return status;
	for (size_t i = 0; i < session.run->process_count; i++)
		if (!tp_session_symbols(&session, i))
			return tp_session_out_of_memory(&session);
	if (!(options->json ? tp_processes_json(&session, &in_json) : print_text(&session, report)))
		return tp_session_out_of_memory(&session);
	return tp_session_close(&session, TP_EXIT_OK);
}
