/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/brief.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/parts/first_page.h"
#include "commands/parts/growth_report.h"
#include "commands/parts/cover_report.h"
#include "commands/parts/op_report.h"
#include "commands/parts/rank_report.h"
#include "commands/parts/site_report.h"
#include "report/rows/relatives.h"
#include "report/rows/sorted.h"
#include "report/text/cover_listing.h"

/* Prints the largest row, of the program's own if there are any: "; largest of yours: 4.00 MiB at train.py:6 x = ...". */
static void print_largest(const struct tpa_session *session, const struct tpa_cover *cover, bool cpu)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_cover_row *row = cover->rows;
	char text[3200], shorter[3200];

	if (!cover->count)
		return;
	tpa_cover_row_text(page, session->run->processes[row->process].trace, row, text, sizeof(text));
	fprintf(page->out, "; largest%s: %s at %s", row->about == TPA_ABOUT_PROGRAM ? " of yours" : "",
		cpu ? tpa_time(row->amount).text : tpa_bytes(row->amount, page->exact).text,
		tpa_shorten_end(page, text, page->width / 2, shorter, sizeof(shorter)));
}

/* Says of which process the line is, where there are several. */
static void print_process(const struct tpa_session *session, size_t index)
{
	if (session->run->process_count > 1)
		fprintf(session->page.out, ", in process %" PRIu32, session->run->processes[index].trace->header->pid);
	fputc('\n', session->page.out);
}

static void print_memory(struct tpa_session *session, size_t index)
{
	const struct tpa_run *run = session->run;
	const struct tpa_process *process = &run->processes[index];
	const struct tpa_numbers numbers = { &session->page, process->unseen };
	const struct tpa_heap *heap = &process->heap;
	bool several = run->process_count > 1;
	uint64_t peak = several ? run->peak_bytes : heap->peak_bytes,
		 rss = several ? run->resident.rss : heap->rss_peak;
	FILE *out = session->page.out;
	struct tpa_cover *cover;

	if (!heap->peak_blocks)
		return;
	fprintf(out, "memory: %s at the peak",
		tpa_some_bytes(&numbers, peak, several ? run->peak_variance : heap->variance.peak_bytes).text);
	if (several)
		fprintf(out, " of %zu processes together", run->process_count);
	if (rss > 2 * peak)
		fprintf(out, " (RSS %s)", tpa_bytes(rss, session->page.exact).text);
	cover = tpa_session_peak_cover(session, index, TPA_COVER_ROWS);
	print_largest(session, cover, false);
	print_process(session, index);
	tpa_cover_free(cover);
}

/* Prints the fastest leak of the first process that leaks; a parent comes before its children. */
static void print_leak(struct tpa_session *session)
{
	const struct tpa_run *run = session->run;
	FILE *out = session->page.out;

	for (size_t i = 0; i < run->process_count; i++) {
		if (!tpa_leaks_count(session, i))
			continue;
		fputs("leak: ", out);
		tpa_leaks_brief_print(session, i);
		print_process(session, i);
		return;
	}
}

static uint64_t cpu_of(const struct tpa_process *process)
{
	return tpa_cpu_ns(process, &process->cpu);
}

static void print_op(struct tpa_session *session, size_t index)
{
	FILE *out = session->page.out;
	struct tpa_op_list list;

	tpa_op_list(&list, &session->run->processes[index], "self", NULL);
	tpa_op_list_join(&list);
	fprintf(out, "time: %s in %s call%s of %s, the op that took most", tpa_time(list.ops[0]->self_ns).text,
		tpa_count(list.ops[0]->calls).text, tpa_plural(list.ops[0]->calls), list.ops[0]->name);
	print_process(session, index);
	free(list.ops);
}

/* Prints the slowest op of the process with most CPU time, or what took the time of all if its ops took little. */
static void print_time(struct tpa_session *session)
{
	const struct tpa_run *run = session->run;
	FILE *out = session->page.out;
	struct tpa_cover *cover;
	size_t most = 0;

	for (size_t i = 1; i < run->process_count; i++)
		if (cpu_of(&run->processes[i]) > cpu_of(&run->processes[most]))
			most = i;
	if (tpa_ops_matter(&run->processes[most])) {
		print_op(session, most);
		return;
	}
	cover = tpa_run_cpu_cover(session, TPA_COVER_ROWS);
	if (cover->count) {
		fprintf(out, "time: %s of CPU time", tpa_time(tpa_run_cpu_ns(run)).text);
		if (run->process_count > 1)
			fprintf(out, " by %zu processes", run->process_count);
		print_largest(session, cover, true);
		fputc('\n', out);
	}
	tpa_cover_free(cover);
}

/* Prints the first program that was started and has no trace, and how many more there are. */
static void print_untraced(const struct tpa_session *session)
{
	const struct tprof_untraced *note, *first = NULL;
	char name[sizeof(note->name)], first_name[sizeof(note->name)];
	FILE *out = session->page.out;
	uint64_t count = 0;

	for (size_t i = 0; i < session->run->process_count; i++) {
		const struct tpa_trace *trace = session->run->processes[i].trace;

		for (size_t at = 0; (note = tpa_next_untraced(trace->header, &at, name)); count += note->count) {
			if (first)
				continue;
			first = note;
			memcpy(first_name, name, sizeof(name));
		}
		count += trace->header->untraced_more;
	}
	if (!first)
		return;
	fprintf(out, "not recorded: %s: %s", first->why == TPROF_UNFOLLOWED_OUTPUT ? "a fork" : first_name,
		tpa_untraced_reason(first));
	if (first->why == TPROF_UNFOLLOWED_OUTPUT)
		fprintf(out, ": %s", first_name);
	if (count > 1)
		fprintf(out, "; and %s more", tpa_count(count - 1).text);
	fputc('\n', out);
}

void tpa_brief_print(struct tpa_session *session)
{
	tpa_session_open_symbols(session);
	tpa_rank_brief_print(session);
	print_memory(session, tpa_first_page_largest(session->run));
	print_leak(session);
	print_time(session);
	print_untraced(session);
}
