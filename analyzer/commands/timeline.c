/* SPDX-License-Identifier: Apache-2.0 */
/* timeline: memory over time. */
#include "commands/timeline.h"
#include "commands/processes.h"
#include "commands/site_report.h"

#include "report/text/coverage.h"
#include "report/text/mark_listing.h"
#include "report/text/numbers.h"
#include "report/text/plot.h"
#include "report/text/process_listing.h"

#define PLOT_ROWS 14

static void print_legend(const struct tp_page *page, const struct tp_process *process)
{
	bool live = !tp_heap_unknown(process), rss = process->heap.rss_peak != 0;

	fprintf(page->out, "%*s  ", 11, "");
	if (live)
		fprintf(page->out, "%s live bytes (requested)%s", page->utf8 ? "\xe2\xa3\xbf" : "#", rss ? ", " : "");
	if (rss)
		fprintf(page->out, "%s RSS", page->utf8 ? "\xe2\xa0\x92" : "-");
	fputc('\n', page->out);
}

static const struct tp_point *last_point(const struct tp_process *process)
{
	return process->point_count ? &process->timeline[process->point_count - 1] : NULL;
}

static void add_numbers(const struct tp_page *page, struct tp_table *table, const char *what, uint64_t most,
			uint64_t end)
{
	tp_table_add(table, TP_STYLE_PLAIN, what);
	tp_table_add(table, TP_STYLE_NUMBER, tp_bytes(most, page->exact).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_bytes(end, page->exact).text);
}

/* As jemalloc(3) calls them. */
static void add_allocator(const struct tp_page *page, struct tp_table *table, const struct tp_allocator_series *series)
{
	if (!tp_allocator_told(&series->most))
		return;
	add_numbers(page, table, "jemalloc: allocated", series->most.allocated, series->last.allocated);
	add_numbers(page, table, "jemalloc: active", series->most.active, series->last.active);
	add_numbers(page, table, "jemalloc: metadata", series->most.metadata, series->last.metadata);
	add_numbers(page, table, "jemalloc: resident", series->most.resident, series->last.resident);
	add_numbers(page, table, "jemalloc: retained", series->most.retained, series->last.retained);
}

static void add_live(const struct tp_page *page, struct tp_table *table, const struct tp_process *process)
{
	const struct tp_heap *heap = &process->heap;
	struct tp_numbers numbers = { page, process->unseen };

	if (tp_heap_unknown(process))
		return;
	tp_table_add(table, TP_STYLE_PLAIN, "live bytes");
	tp_table_add(table, TP_STYLE_NUMBER, tp_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_some_bytes(&numbers, heap->end_bytes, heap->variance.live_bytes).text);
	tp_table_add(table, TP_STYLE_PLAIN, "live blocks");
	tp_table_add(table, TP_STYLE_NUMBER,
		     tp_some_count(&numbers, heap->peak_blocks, heap->variance.peak_blocks).text);
	tp_table_add(table, TP_STYLE_PLAIN, tp_some_count(&numbers, heap->end_blocks, heap->variance.live_blocks).text);
}

static void print_numbers(const struct tp_page *page, const struct tp_process *process)
{
	const struct tp_heap *heap = &process->heap;
	const struct tp_point *last = last_point(process);
	struct tp_table *table = tp_table_new("|>most|>at the end");

	add_live(page, table, process);
	if (heap->maps || !tp_heap_unknown(process))
		add_numbers(page, table, "mmap", heap->mapped_peak, heap->mapped_end);
	tp_table_add(table, TP_STYLE_PLAIN, "RSS");
	tp_table_add(table, TP_STYLE_NUMBER, heap->rss_peak ? tp_bytes(heap->rss_peak, page->exact).text : "?");
	tp_table_add(table, TP_STYLE_PLAIN, last && last->rss ? tp_bytes(last->rss, page->exact).text : "?");
	add_allocator(page, table, &process->allocator);
	fputc('\n', page->out);
	tp_table_print(table, page, 2);
	tp_table_free(table);
}

static void print_process(const struct tp_session *session, const struct tp_process *process)
{
	const struct tp_page *page = &session->page;
	const struct tp_heap *heap = &process->heap;
	struct tp_numbers numbers = { page, process->unseen };
	struct tp_notes notes;
	uint64_t from, to;

	tp_session_span(session, process, &from, &to);
	tp_process_print(process, page);
	tp_scope_print(session);
	if (tp_heap_unknown(process))
		tp_headline(page, "Memory over time: no allocation was recorded");
	else
		tp_headline(page, "Live memory over time, peak %s at %s",
			    tp_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text,
			    tp_time(heap->peak_time_ns).text);
	fputc('\n', page->out);
	tp_plot(page, process->timeline, process->point_count, from, to, PLOT_ROWS);
	print_legend(page, process);
	print_numbers(page, process);
	tp_marks_print(page, &process->marks, tp_top(session->options, 20));
	tp_coverage_print(page, process);
	tp_notes_collect(&notes, process, NULL);
	tp_notes_print(&notes, page);
	tp_notes_free(&notes);
}

static void print_text(const struct tp_session *session)
{
	const struct tp_run *run = session->run;
	const struct tp_page *page = &session->page;
	char names[300];

	for (size_t i = 0; i < run->process_count; i++) {
		if (i)
			fputs("\n\n", page->out);
		print_process(session, &run->processes[i]);
	}
	if (run->process_count > 1) {
		tp_combined_print(session);
		fputc('\n', page->out);
		tp_plot(page, run->timeline, run->point_count, 0, run->duration_ns, PLOT_ROWS);
	}
	tp_next_print(page, "tprof-analyze peak %s   says what held the memory at the peak",
		      tp_trace_names(session, names, sizeof(names)));
}

json_t *tp_timeline_json(const struct tp_session *session, size_t index)
{
	const struct tp_process *process = &session->run->processes[index];
	const struct tp_options *options = session->options;
	json_t *timeline = json_object();

	json_object_set_new(timeline, "points",
			    tp_json_points(process->timeline, process->point_count, process->unseen));
	json_object_set_new(timeline, "allocator", tp_json_allocator_points(&process->allocator));
	json_object_set_new(timeline, "marks", tp_marks_json(&process->marks, options->top_set ? options->top : 0));
	json_object_set_new(timeline, "marks_total", tp_json_number(process->marks.all));
	return timeline;
}

static json_t *json_process(struct tp_session *session, size_t index, const void *argument)
{
	const struct tp_process *process = &session->run->processes[index];
	json_t *json = json_object();

	(void)argument;
	json_object_set_new(json, "process", tp_json_process(process));
	json_object_set_new(json, "capture", tp_json_capture(process));
	json_object_set_new(json, "heap", tp_json_heap(process));
	json_object_set_new(json, "timeline", tp_timeline_json(session, index));
	json_object_set_new(json, "notes", tp_json_notes(process, NULL));
	return json;
}

json_t *tp_timeline_combined_json(const struct tp_session *session)
{
	const struct tp_run *run = session->run;

	return json_pack("{s:o}", "points", tp_json_points(run->timeline, run->point_count, tp_run_unseen(run)));
}

static bool combine(struct tp_session *session, json_t *combined, const void *argument)
{
	(void)argument;
	return json_object_set_new(combined, "timeline", tp_timeline_combined_json(session)) == 0;
}

int tp_cmd_timeline(const struct tp_options *options)
{
	const struct tp_process_report report = { .process = json_process, .combine = combine };
	struct tp_session session;
	int status = tp_session_start(&session, options);

	if (status != TP_EXIT_OK)
		return status;
	if (!options->json)
		print_text(&session);
	else if (!tp_processes_json(&session, &report))
		return tp_session_out_of_memory(&session);
	return tp_session_close(&session, TP_EXIT_OK);
}
