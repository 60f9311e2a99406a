/* SPDX-License-Identifier: Apache-2.0 */
/* summary: the first page, or a longer one with --full; JSON has both. */
#include "commands/summary.h"
#include "commands/parts/brief.h"
#include "commands/parts/cpu_report.h"
#include "commands/parts/first_page.h"
#include "commands/parts/growth_report.h"
#include "commands/input/machine_file.h"
#include "commands/parts/op_report.h"
#include "commands/parts/processes.h"
#include "commands/parts/rank_report.h"
#include "commands/parts/sections.h"
#include "commands/parts/site_report.h"

#include <string.h>

#include "report/text/coverage.h"
#include "report/text/cpu_listing.h"
#include "report/text/numbers.h"
#include "report/text/plot.h"
#include "report/text/priority_listing.h"
#include "report/text/process_listing.h"
#include "report/text/related.h"
#include "report/text/resident_listing.h"
#include "report/text/roof_listing.h"

#define TOP_SITES 5
#define PLOT_ROWS 6
#define SUPPRESSED_LEAST 0.05 /* smallest share of unfreed memory to mention */
#define NOTES 3		      /* most notes on the first page */

static void print_label(const struct tpa_page *page, const char *label)
{
	fprintf(page->out, "  %-12s", label);
}

static void print_capture(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	const struct tpa_heap *heap = &process->heap;

	print_label(page, "recorded");
	fprintf(page->out, "%s allocation%s, %s free%s, ", tpa_count(heap->recorded_allocations).text,
		tpa_plural(heap->recorded_allocations), tpa_count(heap->recorded_frees).text,
		tpa_plural(heap->recorded_frees));
	tpa_lost_print(trace, page);
	fprintf(page->out, "; %s of trace", tpa_bytes(trace->used_bytes, page->exact).text);
	if (heap->events >= 1000) /* with few events the header dominates the size */
		fprintf(page->out, " (%.1f bytes an event)", (double)trace->used_bytes / (double)heap->events);
	fputc('\n', page->out);
	print_label(page, "overhead");
	fprintf(page->out, "about %s of recording (%s of the run)\n", tpa_time(process->overhead_ns).text,
		tpa_percent(process->overhead_ns, process->duration_ns).text);
}

static void print_cpu(const struct tpa_session *session, const struct tpa_process *process)
{
	const struct tprof_header *header = process->trace->header;
	const struct tpa_options *options = session->options;
	const struct tpa_page *page = &session->page;
	bool whole = !options->thread && !options->from_ns && !options->to_ns;

	print_label(page, "cpu");
	tpa_cpu_print_capture(page, process);
	fputc('\n', page->out);
	if (!header->samples_own || !whole)
		return;
	print_label(page, "");
	fprintf(page->out, "%s more (%s of all) were spent in the collector itself\n",
		tpa_time(header->samples_own * header->cpu_period_ns).text,
		tpa_percent(header->samples_own, header->samples_own + process->cpu.periods).text);
}

static void print_heap(const struct tpa_session *session, const struct tpa_process *process)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_heap *heap = &process->heap;
	const struct tpa_variance *variance = &heap->variance;
	struct tpa_numbers numbers = { page, process->unseen };
	char copied[400];

	if (!heap->allocations && !heap->peak_blocks) {
		print_label(page, "memory");
		fputs("no allocation was recorded\n", page->out);
		return;
	}
	if (process->estimated) {
		print_label(page, "allocated");
		fprintf(page->out, "%s in %s block%s\n", tpa_some_bytes(&numbers, heap->bytes, variance->bytes).text,
			tpa_some_count(&numbers, heap->allocations, variance->allocations).text,
			tpa_plural(heap->allocations));
	}
	print_label(page, "peak");
	tpa_print(page, TPA_STYLE_NUMBER, "%s", tpa_some_bytes(&numbers, heap->peak_bytes, variance->peak_bytes).text);
	fprintf(page->out, " in %s block%s, %s after the start",
		tpa_some_count(&numbers, heap->peak_blocks, variance->peak_blocks).text, tpa_plural(heap->peak_blocks),
		tpa_time(heap->peak_time_ns - process->start_ns).text);
	if (heap->rss_peak)
		fprintf(page->out, "; RSS at most %s", tpa_bytes(heap->rss_peak, page->exact).text);
	if (heap->mapped_peak)
		fprintf(page->out, ", mmap at most %s", tpa_bytes(heap->mapped_peak, page->exact).text);
	fputc('\n', page->out);
	print_label(page, "at the end");
	tpa_print(page, TPA_STYLE_NUMBER, "%s", tpa_some_bytes(&numbers, heap->end_bytes, variance->live_bytes).text);
	fprintf(page->out, " in %s block%s %s", tpa_some_count(&numbers, heap->end_blocks, variance->live_blocks).text,
		tpa_plural(heap->end_blocks), tpa_unfreed_phrase(process, session->options->to_ns));
	fprintf(page->out, " (%s of the peak)\n", tpa_some_percent(&numbers, heap->end_bytes, heap->peak_bytes).text);
	if (tpa_makeup_copied(page, process, copied, sizeof(copied))) {
		print_label(page, "copied");
		fprintf(page->out, "%s\n", copied);
	}
	if (process->pools.pools) {
		print_label(page, "pools");
		fprintf(page->out, "%s of %s in all, which hold %s of these blocks and are not counted themselves\n",
			tpa_count(process->pools.pools).text, tpa_bytes(process->pools.bytes, page->exact).text,
			tpa_count(process->pools.allocations).text);
	}
	print_label(page, process->estimated ? "short-lived" : "temporary");
	if (!process->estimated)
		fprintf(page->out, "%s of the allocations freed by the very next event, ",
			tpa_percent(heap->temporary, heap->allocations).text);
	fprintf(page->out, "%s within %s%s\n", tpa_some_percent(&numbers, heap->short_lived, heap->allocations).text,
		tpa_time(TPA_SHORT_LIVED_NS).text, process->estimated ? " of the allocation" : "");
}

struct question {
	enum tpa_what what;
	const char *sort;
	enum tpa_json_sites shape;
	const char *key;
	struct tpa_suppressions *suppressions;
};

static struct tpa_rows *rows_of(struct tpa_session *session, size_t process, const struct question *question)
{
	return tpa_session_rows(session, process, TPA_BY_STACK, question->what, question->sort, question->suppressions,
				tpa_top(session->options, TOP_SITES));
}

static void print_sites(struct tpa_session *session, size_t process, const struct question *question, const char *title)
{
	struct tpa_rows *rows = rows_of(session, process, question);
	struct tpa_listing listing = {
		.page = &session->page,
		.run = session->run,
		.symbols = session->symbols,
		.what = question->what,
		.top = tpa_top(session->options, TOP_SITES),
		.hotspots = question->what == TPA_WHAT_ALLOCATED,
	};

	if (rows->count) {
		tpa_headline(&session->page, "%s", title);
		tpa_listing_print_short(&listing, rows);
	}
	if (question->suppressions)
		tpa_suppressed_print(&session->page, question->suppressions, rows, SUPPRESSED_LEAST);
	tpa_rows_free(rows);
}

/* Prints the priorities, or sets them in `json` if it is not NULL. `machine` is NULL if the machine is unknown. */
static void add_priorities(struct tpa_session *session, size_t index, const struct tpa_machine *machine, json_t *json)
{
	const struct tpa_process *process = &session->run->processes[index];
	struct tpa_rows *peak = tpa_session_rows(session, index, TPA_BY_STACK, TPA_WHAT_PEAK, "bytes", NULL, 1);
	struct tpa_roof_notes notes = { machine, machine ? tpa_roof_cores(machine, process) : 0, "" };

	if (json)
		tpa_json_set(json, "priorities",
			     tpa_priorities_json(process, peak, machine ? tpa_roof_place_json : NULL, &notes));
	else
		tpa_priorities_print(&session->page, process, peak, machine ? tpa_roof_note : NULL, &notes);
	tpa_rows_free(peak);
}

/* session->argument: the machine, or NULL. */
static void print_full(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;
	struct tpa_suppressions *suppressions = tpa_session_suppressions(session);
	const struct question peak = { .what = TPA_WHAT_PEAK, .sort = "bytes" };
	const struct question unfreed = { .what = TPA_WHAT_UNFREED, .sort = "bytes", .suppressions = suppressions };
	const struct question hot = { .what = TPA_WHAT_ALLOCATED, .sort = "allocations" };
	char title[100];
	uint64_t from, to;

	tpa_process_print(process, page);
	tpa_others_print(session->run, process, page);
	tpa_scope_print(session);
	fputc('\n', page->out);
	print_capture(page, process);
	print_heap(session, process);
	print_cpu(session, process);
	if (process->point_count > 1) {
		fputc('\n', page->out);
		tpa_session_span(session, process, &from, &to);
		tpa_plot(page, process->timeline, process->point_count, from, to, PLOT_ROWS);
	}
	tpa_session_print_makeup(session, index, &process->makeup.peak, "What RSS was made of at its largest",
				 TOP_SITES);
	tpa_growth_short_print(session, index, TOP_SITES);
	print_sites(session, index, &peak, "What held the memory at the peak");
	snprintf(title, sizeof(title), "What was %s", tpa_unfreed_phrase(process, session->options->to_ns));
	print_sites(session, index, &unfreed, title);
	print_sites(session, index, &hot, "Who allocated most often");
	tpa_ops_short_print(session, index, TOP_SITES);
	tpa_cpu_short_print(session, index, TOP_SITES);
	add_priorities(session, index, session->argument, NULL);
	tpa_suppressions_free(suppressions);
}

static void print_process(struct tpa_session *session, size_t index)
{
	if (session->options->full)
		print_full(session, index);
	else
		tpa_first_page_print(session, index);
}

static void print_end(struct tpa_session *session)
{
	if (session->run->process_count > 1) {
		tpa_combined_print(session);
		tpa_first_page_combined_print(session);
		tpa_ops_combined_print(session, TOP_SITES);
	}
	tpa_first_page_next(session);
}

static void add_sites(struct tpa_session *session, size_t index, const struct question *question, json_t *heap)
{
	struct tpa_rows *rows = rows_of(session, index, question);
	char total[40];

	tpa_json_set(heap, question->key,
		     tpa_json_rows(session->run, session->symbols, rows, TPA_BY_STACK, question->shape,
				   tpa_top(session->options, TOP_SITES)));
	snprintf(total, sizeof(total), "%s_total", question->key);
	tpa_json_set(heap, total, json_integer((json_int_t)rows->count));
	if (question->suppressions)
		tpa_json_set(heap, "suppressed", tpa_json_suppressed(rows, question->suppressions));
	tpa_rows_free(rows);
}

static void json_combined(struct tpa_session *session, json_t *combined)
{
	tpa_answer_combined_json(session, combined);
	tpa_ops_combined_json(session, combined);
}

/* session->argument: the machine, or NULL. */
static void json_process(struct tpa_session *session, size_t index, json_t *json)
{
	struct tpa_suppressions *suppressions = tpa_session_suppressions(session);
	const struct question questions[] = {
		{ TPA_WHAT_PEAK, "bytes", TPA_JSON_PEAK, "peak_sites", NULL },
		{ TPA_WHAT_UNFREED, "bytes", TPA_JSON_UNFREED, "unfreed_sites", suppressions },
		{ TPA_WHAT_ALLOCATED, "allocations", TPA_JSON_HOT, "hot_sites", NULL },
	};
	json_t *heap = tpa_json_heap(&session->run->processes[index]);

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		add_sites(session, index, &questions[i], heap);
	tpa_json_set(json, "heap", heap);
	tpa_json_set(json, "memory", tpa_makeup_json(session->run, index, session->symbols));
	tpa_ops_section_json(session, index, json, session->options->command->run == tpa_cmd_html);
	tpa_cpu_section_json(session, index, json);
	add_priorities(session, index, session->argument, json);
	tpa_json_set(json, "answer", tpa_answer_json(session, index, session->argument));
	tpa_suppressions_free(suppressions);
}

static struct tpa_report report_of(const struct tpa_options *options, const struct tpa_machine *machine)
{
	return (struct tpa_report){ .symbols = true,
				    .notes = options->full ? 0 : NOTES,
				    .choose = options->full ? NULL : tpa_sections_choose,
				    .related = true,
				    .print_begin = tpa_rank_answer_print,
				    .print = print_process,
				    .print_end = print_end,
				    .json = json_process,
				    .combine = json_combined,
				    .whole = tpa_rank_answer_json,
				    .argument = machine };
}

json_t *tpa_summary_json(struct tpa_session *session, size_t index, const struct tpa_machine *machine)
{
	const struct tpa_report report = report_of(session->options, machine);

	return tpa_process_json(session, &report, index);
}

int tpa_summary_start(struct tpa_session *session, const struct tpa_options *options, struct tpa_machine *machine,
		      bool *known)
{
	int status = tpa_session_open(session, options);

	if (status != TPA_EXIT_OK)
		return status;
	status = tpa_machine_find(options, machine, known);
	if (status != TPA_EXIT_OK)
		return tpa_session_close(session, status);
	return tpa_session_replay(session, TPA_GROUP_STACK);
}

int tpa_cmd_summary(const struct tpa_options *options)
{
	struct tpa_session session;
	struct tpa_machine machine;
	bool known = false;
	int status = tpa_summary_start(&session, options, &machine, &known);
	const struct tpa_report report = report_of(options, known ? &machine : NULL);

	if (status != TPA_EXIT_OK)
		return status;
	if (!options->brief || options->json)
		return tpa_report(&session, &report);
	tpa_brief_print(&session);
	return tpa_session_close(&session, TPA_EXIT_OK);
}
