/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/live_view.h"

#include <stdlib.h>
#include <time.h>

#include "commands/parts/cover_report.h"
#include "commands/parts/growth_report.h"
#include "commands/parts/site_report.h"
#include "report/rows/sorted.h"
#include "report/rows/thread_rows.h"
#include "report/text/columns.h"
#include "report/text/numbers.h"
#include "report/text/op_listing.h"
#include "report/text/plot.h"
#include "report/text/process_listing.h"
#include "report/text/step_listing.h"

#define PLOT_ROWS 4
#define LEAK_ROWS 3
#define OP_ROWS 4
#define MEMORY_ROWS 20

const char *tpa_view_name(enum tpa_view view)
{
	static const char *const names[] = { "overview", "leaks", "ops", "threads", "memory", "stacks of memory" };

	return names[view];
}

struct tpa_live_rates tpa_rates_since(struct tpa_live_counts *before, const struct tpa_process *process)
{
	const struct tpa_heap *heap = &process->heap;
	struct tpa_live_counts now = { process->start_ns + process->duration_ns, heap->allocations, heap->bytes };
	struct tpa_live_rates rates = { 0 };

	if (before->end_ns && now.end_ns > before->end_ns) {
		rates.span_ns = now.end_ns - before->end_ns;
		rates.allocations = (double)(now.allocations - before->allocations) * 1e9 / (double)rates.span_ns;
		rates.bytes = (double)(now.bytes - before->bytes) * 1e9 / (double)rates.span_ns;
	}
	*before = now;
	return rates;
}

static const struct tpa_point *last_point(const struct tpa_process *process)
{
	static const struct tpa_point none;

	return process->point_count ? &process->timeline[process->point_count - 1] : &none;
}

static void print_memory_line(const struct tpa_page *page, const struct tpa_process *process,
			      const struct tpa_live_rates *rates)
{
	struct tpa_numbers numbers = { page, process->unseen };
	const struct tpa_heap *heap = &process->heap;

	tpa_print(page, TPA_STYLE_NUMBER, "live %s",
		  tpa_some_bytes(&numbers, heap->end_bytes, heap->variance.live_bytes).text);
	fprintf(page->out, " (peak %s), ", tpa_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text);
	tpa_print(page, TPA_STYLE_NUMBER, "RSS %s", tpa_bytes(last_point(process)->rss, page->exact).text);
	fprintf(page->out, " (%s), mmap %s", tpa_bytes(heap->rss_peak, page->exact).text,
		tpa_bytes(last_point(process)->mapped_bytes, page->exact).text);
	fputc('\n', page->out);
	if (rates->span_ns)
		fprintf(page->out, "%s allocations a second, of %s\n", tpa_count(tpa_round(rates->allocations)).text,
			tpa_bytes(tpa_round(rates->bytes), page->exact).text);
}

static void print_ops(struct tpa_session *session, const char *sort, uint64_t top, bool whole)
{
	const struct tpa_process *process = &session->run->processes[0];
	struct tpa_op_list list;

	tpa_op_list(&list, process, sort, session->filter);
	tpa_op_list_join(&list);
	if (list.count && !whole)
		tpa_headline(&session->page, "Ops, by %s%s", sort, sort[0] == 's' || sort[0] == 't' ? " time" : "");
	if (list.count && !whole)
		tpa_ops_print_short(&session->page, &list, top);
	else if (list.count)
		tpa_ops_print(&session->page, process, &list, top);
	else if (whole)
		fputs("\nno op was recorded\n", session->page.out);
	free(list.ops);
}

static void print_overview(struct tpa_session *session, const struct tpa_live_rates *rates, const char *sort)
{
	const struct tpa_process *process = &session->run->processes[0];
	const struct tpa_page *page = &session->page;
	uint64_t from, to;

	print_memory_line(page, process, rates);
	tpa_steps_print_short(page, process);
	if (process->point_count > 1) {
		tpa_session_span(session, process, &from, &to);
		tpa_plot(page, process->timeline, process->point_count, from, to, PLOT_ROWS);
	}
	tpa_leaks_answer_print(session, 0, LEAK_ROWS);
	print_ops(session, sort, OP_ROWS, false);
}

static void print_threads(const struct tpa_page *page, const struct tpa_process *process)
{
	static const char keys[] = "thread tid +name *cpu_ns op_ns allocations frees bytes";
	const struct tpa_row_context context = { .process = process, .unseen = process->unseen };
	struct tpa_table *table = tpa_columns_begin(page, tpa_thread_columns, keys, NULL);

	tpa_headline(page, "Threads (%zu)", process->thread_count);
	for (size_t i = 0; i < process->thread_count; i++) {
		struct tpa_thread_row row = { .stats = process->threads[i] };

		tpa_columns_add(table, page, tpa_thread_columns, keys, &row, &context);
	}
	tpa_table_end(table, page);
}

static void print_memory(struct tpa_session *session)
{
	struct tpa_cover *cover = tpa_session_peak_cover(session, 0, MEMORY_ROWS);

	tpa_headline(&session->page, "Memory at the peak so far");
	tpa_peak_cover_print(session, cover);
	tpa_cover_free(cover);
}

static void print_stacks(struct tpa_session *session)
{
	struct tpa_rows *rows = tpa_session_rows(session, 0, TPA_BY_STACK, TPA_WHAT_PEAK, "bytes", NULL, MEMORY_ROWS);
	const struct tpa_listing listing = { .page = &session->page,
					     .run = session->run,
					     .symbols = session->symbols,
					     .what = TPA_WHAT_PEAK,
					     .top = MEMORY_ROWS };

	tpa_headline(&session->page, "Memory at the peak so far, by stack");
	tpa_listing_print(&listing, rows);
	tpa_rows_free(rows);
}

void tpa_view_print(struct tpa_session *session, enum tpa_view view, const struct tpa_live_rates *rates,
		    const char *sort)
{
	const struct tpa_process *process = &session->run->processes[0];

	tpa_process_print(process, &session->page);
	switch (view) {
	case TPA_VIEW_LEAKS:
		tpa_growth_section_print(session, 0);
		break;
	case TPA_VIEW_OPS:
		print_ops(session, sort, 30, true);
		break;
	case TPA_VIEW_THREADS:
		print_threads(&session->page, process);
		break;
	case TPA_VIEW_MEMORY:
		print_memory(session);
		break;
	case TPA_VIEW_STACKS:
		print_stacks(session);
		break;
	default:
		print_overview(session, rates, sort);
	}
}

void tpa_view_line_print(struct tpa_session *session, const struct tpa_live_rates *rates)
{
	const struct tpa_process *process = &session->run->processes[0];
	const struct tpa_page *page = &session->page;
	time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%T", &tm);
	fprintf(page->out, "%s live %s RSS %s", when, tpa_bytes(process->heap.end_bytes, page->exact).text,
		tpa_bytes(last_point(process)->rss, page->exact).text);
	if (rates->span_ns)
		fprintf(page->out, " %s allocations/s", tpa_count(tpa_round(rates->allocations)).text);
	if (process->steps.count)
		fprintf(page->out, " step %s of %s", tpa_count(process->steps.count).text,
			tpa_time(tpa_round(process->steps.durations.mean)).text);
	if (tpa_leaks_count(session, 0)) {
		fputs(" leak: ", page->out);
		tpa_leaks_brief_print(session, 0);
	}
	fputc('\n', page->out);
	fflush(page->out);
}

json_t *tpa_view_json(const struct tpa_process *process, const struct tpa_live_rates *rates)
{
	json_t *json = json_pack("{s:b, s:I, s:I, s:I, s:I}", "running", process->trace->running, "time_ns",
				 (json_int_t)process->duration_ns, "live_bytes", (json_int_t)process->heap.end_bytes,
				 "rss", (json_int_t)last_point(process)->rss, "mapped_bytes",
				 (json_int_t)last_point(process)->mapped_bytes);

	json_object_set_new(json, "allocations_per_second",
			    rates->span_ns ? json_real(rates->allocations) : json_null());
	json_object_set_new(json, "bytes_per_second", rates->span_ns ? json_real(rates->bytes) : json_null());
	return json;
}
