/* SPDX-License-Identifier: Apache-2.0 */
/* timeline: memory over time. */
#include "commands/parts/timeline.h"
#include "commands/parts/processes.h"
#include "commands/parts/site_report.h"

#include "report/text/coverage.h"
#include "report/text/mark_listing.h"
#include "report/text/numbers.h"
#include "report/text/plot.h"
#include "report/text/process_listing.h"

#define PLOT_ROWS 14

static void print_legend(const struct tpa_page *page, const struct tpa_process *process)
{
	bool live = !tpa_heap_unknown(process), rss = process->heap.rss_peak != 0;

	fprintf(page->out, "%*s  ", 11, "");
	if (live)
		fprintf(page->out, "%s live bytes (requested)%s", page->utf8 ? "\xe2\xa3\xbf" : "#", rss ? ", " : "");
	if (rss)
		fprintf(page->out, "%s RSS", page->utf8 ? "\xe2\xa0\x92" : "-");
	fputc('\n', page->out);
}

static const struct tpa_point *last_point(const struct tpa_process *process)
{
	return process->point_count ? &process->timeline[process->point_count - 1] : NULL;
}

static void add_numbers(const struct tpa_page *page, struct tpa_table *table, const char *what, uint64_t most,
			uint64_t end)
{
	tpa_table_add(table, TPA_STYLE_PLAIN, what);
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_bytes(most, page->exact));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_bytes(end, page->exact));
}

/* Uses the terms of jemalloc(3). */
static void add_allocator(const struct tpa_page *page, struct tpa_table *table,
			  const struct tpa_allocator_series *series)
{
	if (!tpa_allocator_told(&series->most))
		return;
	add_numbers(page, table, "jemalloc: allocated", series->most.allocated, series->last.allocated);
	add_numbers(page, table, "jemalloc: active", series->most.active, series->last.active);
	add_numbers(page, table, "jemalloc: metadata", series->most.metadata, series->last.metadata);
	add_numbers(page, table, "jemalloc: resident", series->most.resident, series->last.resident);
	add_numbers(page, table, "jemalloc: retained", series->most.retained, series->last.retained);
}

static void add_live(const struct tpa_page *page, struct tpa_table *table, const struct tpa_process *process)
{
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };

	if (tpa_heap_unknown(process))
		return;
	tpa_table_add(table, TPA_STYLE_PLAIN, "live bytes");
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_some_bytes(&numbers, heap->end_bytes, heap->variance.live_bytes));
	tpa_table_add(table, TPA_STYLE_PLAIN, "live blocks");
	tpa_cell(table, TPA_STYLE_NUMBER, tpa_some_count(&numbers, heap->peak_blocks, heap->variance.peak_blocks));
	tpa_cell(table, TPA_STYLE_PLAIN, tpa_some_count(&numbers, heap->end_blocks, heap->variance.live_blocks));
}

static void print_numbers(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_heap *heap = &process->heap;
	const struct tpa_point *last = last_point(process);
	struct tpa_table *table = tpa_table_new("|>most|>at the end");

	add_live(page, table, process);
	if (heap->maps || !tpa_heap_unknown(process))
		add_numbers(page, table, "mmap", heap->mapped_peak, heap->mapped_end);
	tpa_table_add(table, TPA_STYLE_PLAIN, "RSS");
	tpa_table_add(table, TPA_STYLE_NUMBER, heap->rss_peak ? tpa_bytes(heap->rss_peak, page->exact).text : "?");
	tpa_table_add(table, TPA_STYLE_PLAIN, last && last->rss ? tpa_bytes(last->rss, page->exact).text : "?");
	add_allocator(page, table, &process->allocator);
	fputc('\n', page->out);
	tpa_table_end(table, page);
}

static void print_process(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };
	uint64_t from, to;

	tpa_session_span(session, process, &from, &to);
	tpa_process_print(process, page);
	tpa_scope_print(session);
	if (tpa_heap_unknown(process))
		tpa_headline(page, "Memory over time: no allocation was recorded");
	else
		tpa_headline(page, "Live memory over time, peak %s at %s",
			     tpa_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text,
			     tpa_time(heap->peak_time_ns).text);
	fputc('\n', page->out);
	tpa_plot(page, process->timeline, process->point_count, from, to, PLOT_ROWS);
	print_legend(page, process);
	print_numbers(page, process);
	tpa_marks_print(page, &process->marks, tpa_top(session->options, 20));
	tpa_coverage_print(page, process);
}

static void print_end(struct tpa_session *session)
{
	const struct tpa_run *run = session->run;
	const struct tpa_page *page = &session->page;

	if (run->process_count > 1) {
		tpa_combined_print(session);
		fputc('\n', page->out);
		tpa_plot(page, run->timeline, run->point_count, 0, run->duration_ns, PLOT_ROWS);
	}
	tpa_next_print(page, "tprof-analyze peak %s   says what held the memory at the peak",
		       tpa_trace_names(session).text);
}

json_t *tpa_timeline_json(const struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_options *options = session->options;
	json_t *timeline = json_object();

	tpa_json_set(timeline, "points", tpa_json_points(process->timeline, process->point_count, process->unseen));
	tpa_json_set(timeline, "allocator", tpa_json_allocator_points(&process->allocator));
	tpa_json_set(timeline, "marks", tpa_marks_json(&process->marks, options->top_set ? options->top : 0));
	tpa_json_set(timeline, "marks_total", tpa_json_number(process->marks.all));
	return timeline;
}

static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	tpa_json_set(json, "heap", tpa_json_heap(&session->run->processes[index]));
	tpa_json_set(json, "timeline", tpa_timeline_json(session, index));
}

json_t *tpa_timeline_combined_json(const struct tpa_session *session)
{
	const struct tpa_run *run = session->run;

	return json_pack("{s:o}", "points", tpa_json_points(run->timeline, run->point_count, tpa_run_unseen(run)));
}

static void combine(struct tpa_session *session, json_t *combined)
{
	tpa_json_set(combined, "timeline", tpa_timeline_combined_json(session));
}

int tpa_cmd_timeline(const struct tpa_options *options)
{
	static const struct tpa_report report = {
		.print = print_process, .print_end = print_end, .json = json_process, .combine = combine
	};

	return tpa_report_run(options, TPA_GROUP_STACK, &report);
}
