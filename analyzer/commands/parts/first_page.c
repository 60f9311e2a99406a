/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/first_page.h"

#include <stdlib.h>

#include "commands/parts/growth_report.h"
#include "commands/parts/hole_report.h"
#include "commands/parts/op_report.h"
#include "commands/parts/cover_report.h"
#include "commands/parts/site_report.h"
#include "machine/roofline.h"
#include "report/json/json.h"
#include "report/rows/findings.h"
#include "report/rows/op_waits.h"
#include "report/text/cover_listing.h"
#include "report/text/cpu_listing.h"
#include "report/text/op_listing.h"
#include "report/text/process_listing.h"
#include "report/text/related.h"
#include "report/text/step_listing.h"

#define BRIEF_ROWS 3
#define RSS_ROWS 4
#define LEAK_ROWS 5
#define TIME_ROWS 5

static void print_recording(const struct tpa_page *page, const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;

	if (trace->source_count) {
		fprintf(page->out, "imported, not recorded by tprof: the notes say what is not known\n");
		return;
	}
	fprintf(page->out, "recording took about %s (%s of the run), %s of trace; ",
		tpa_time(process->overhead_ns).text, tpa_percent(process->overhead_ns, process->duration_ns).text,
		tpa_bytes(trace->used_bytes, page->exact).text);
	tpa_lost_print(trace, page);
	fputc('\n', page->out);
}

/* Prints at most `most` rows of the peak. */
static void print_peak(struct tpa_session *session, size_t index, size_t most)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };
	struct tpa_cover *cover;

	if (!heap->allocations && !heap->peak_blocks) {
		tpa_headline(page, "Memory: no allocation was recorded");
		return;
	}
	tpa_headline(page, "Memory: %s at the peak, %s after the start",
		     tpa_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text,
		     tpa_time(heap->peak_time_ns - process->start_ns).text);
	cover = tpa_session_peak_cover(session, index, most);
	tpa_peak_cover_print(session, cover);
	tpa_cover_free(cover);
	fprintf(page->out, "  %s %s", tpa_some_bytes(&numbers, heap->end_bytes, heap->variance.live_bytes).text,
		tpa_unfreed_phrase(process, session->options->to_ns));
	if (heap->rss_peak)
		fprintf(page->out, "; resident memory (RSS) at most %s", tpa_bytes(heap->rss_peak, page->exact).text);
	if (heap->mapped_peak)
		fprintf(page->out, ", mmap %s", tpa_bytes(heap->mapped_peak, page->exact).text);
	fputc('\n', page->out);
}

/* Prints at most `most` rows of the CPU time. */
static void print_cpu(struct tpa_session *session, size_t index, size_t most)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;
	struct tpa_cover *cover = tpa_session_cpu_cover(session, index, most);

	if (!process->cpu.samples) {
		tpa_headline(page, "CPU time");
		fputs("  ", page->out);
		tpa_cpu_print_capture(page, process);
		fputc('\n', page->out);
	} else if (cover->count) {
		tpa_headline(page, "CPU time: %s by all threads, in %s samples", tpa_time(cover->amount).text,
			     tpa_count(cover->blocks).text);
		tpa_cover_print(page, session->run, cover, true);
	}
	tpa_cover_free(cover);
}

static void print_time(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;
	struct tpa_op_list list;

	print_cpu(session, index, TIME_ROWS);
	tpa_op_waits_find(&session->run->processes[index], tpa_session_symbols(session, index));
	tpa_op_list(&list, process, "self", NULL);
	tpa_op_list_join(&list);
	if (list.count) {
		tpa_headline(page, "Slowest ops, by the time in them and in no other op (self)");
		tpa_ops_print_short(page, &list, tpa_top(session->options, TIME_ROWS));
	}
	free(list.ops);
}

/* ---- several processes ---- */

size_t tpa_first_page_largest(const struct tpa_run *run)
{
	size_t largest = 0;

	for (size_t i = 1; i < run->process_count; i++)
		if (run->processes[i].heap.peak_bytes > run->processes[largest].heap.peak_bytes)
			largest = i;
	return largest;
}

/* Prints the essentials of a process that is not the largest. */
static void print_brief(struct tpa_session *session, size_t index)
{
	tpa_process_print(&session->run->processes[index], &session->page);
	tpa_untraced_print(session->run->processes[index].trace, &session->page);
	print_peak(session, index, BRIEF_ROWS);
	if (tpa_leaks_count(session, index))
		tpa_leaks_answer_print(session, index, BRIEF_ROWS);
	if (session->run->processes[index].cpu.samples)
		print_cpu(session, index, BRIEF_ROWS);
}

void tpa_first_page_print(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_page *page = &session->page;

	if (index != tpa_first_page_largest(session->run)) {
		print_brief(session, index);
		return;
	}
	tpa_process_print(process, page);
	tpa_others_print(session->run, process, page);
	tpa_scope_print(session);
	print_recording(page, process);
	tpa_steps_print_short(page, process);
	print_peak(session, index, TPA_COVER_ROWS);
	tpa_session_print_makeup(session, index, &process->makeup.peak, "What RSS was made of at its largest",
				 RSS_ROWS);
	tpa_session_print_holes(session, index);
	tpa_leaks_answer_print(session, index, LEAK_ROWS);
	print_time(session, index);
}

void tpa_first_page_combined_print(struct tpa_session *session)
{
	const struct tpa_page *page = &session->page;
	struct tpa_cover *cover = tpa_run_cpu_cover(session, TIME_ROWS);

	if (cover->count) {
		tpa_headline(page, "CPU time of all %zu processes: %s, in %s samples", session->run->process_count,
			     tpa_time(cover->amount).text, tpa_count(cover->blocks).text);
		tpa_cover_print(page, session->run, cover, true);
	}
	tpa_cover_free(cover);
}

void tpa_answer_combined_json(struct tpa_session *session, json_t *combined)
{
	const struct tpa_op_list no_ops = { 0 };
	struct tpa_cover *cover = tpa_run_cpu_cover(session, TIME_ROWS);

	tpa_json_set(combined, "time", tpa_time_answer_json(session->run, &no_ops, cover, TIME_ROWS, NULL, NULL));
	tpa_cover_free(cover);
}

/* ---- what to do next ---- */

static bool any_leaks(struct tpa_session *session)
{
	for (size_t i = 0; i < session->run->process_count; i++)
		if (tpa_leaks_count(session, i))
			return true;
	return false;
}

/* Suggests the most pressing command first. */
void tpa_first_page_next(struct tpa_session *session)
{
	const struct tpa_process *process = &session->run->processes[tpa_first_page_largest(session->run)];
	const struct tpa_page *page = &session->page;
	struct tpa_names names = tpa_trace_names(session);

	if (process->trace->header->flags & TPROF_FLAG_FOREIGN_MALLOC)
		tpa_next_print(page, "build the program with libc's malloc, or link its allocator dynamically, and "
				     "record again");
	else if (!process->heap.allocations && process->cpu.samples)
		tpa_next_print(page, "tprof-analyze hotspots --by line %s   says which lines the CPU time went to",
			       names.text);
	else if (!process->heap.allocations)
		tpa_next_print(page, "tprof-analyze info %s   says what was recorded, and what was not", names.text);
	else if (any_leaks(session))
		tpa_next_print(page, "tprof-analyze leaks %s   says since when it grows, and what it will come to",
			       names.text);
	else if (session->late)
		tpa_next_print(page, "tprof-analyze ranks %s   says how long each rank waited, for whom, and why",
			       names.text);
	else if (tpa_ops_matter(process))
		tpa_next_print(page, "tprof-analyze ops %s   (or peak, leaks, steps, hotspots; --full: a longer page)",
			       names.text);
	else
		tpa_next_print(page, "tprof-analyze peak %s   (or leaks, hotspots, lines; --full: a longer page)",
			       names.text);
}

json_t *tpa_answer_json(struct tpa_session *session, size_t index, const struct tpa_machine *machine)
{
	const struct tpa_process *process = &session->run->processes[index];
	struct tpa_roof_notes notes = { machine, machine ? tpa_roof_cores(machine, process) : 0, "" };
	struct tpa_cover *peak = tpa_session_peak_cover(session, index, TPA_COVER_ROWS),
			 *cpu = tpa_session_cpu_cover(session, index, TIME_ROWS);
	struct tpa_op_list ops;
	json_t *json;

	tpa_op_waits_find(&session->run->processes[index], tpa_session_symbols(session, index));
	tpa_op_list(&ops, process, "self", NULL);
	tpa_op_list_join(&ops);
	json = json_pack(
		"{s:o, s:o, s:o}", "peak", tpa_cover_json(session->run, peak), "leaks",
		tpa_leaks_answer_json(session, index), "time",
		tpa_time_answer_json(session->run, &ops, cpu, TIME_ROWS, machine ? tpa_roof_place_json : NULL, &notes));
	free(ops.ops);
	tpa_cover_free(peak);
	tpa_cover_free(cpu);
	return json;
}
