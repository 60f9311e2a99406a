/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/process_listing.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "trace/related.h"

#define DEPTH_SHOWN 8 /* most levels of nested processes */

/* Joins the arguments from `first` on into one line. */
static void read_arguments(const struct tpa_trace *trace, size_t first, char *line, size_t size)
{
	size_t length = 0;

	line[0] = '\0';
	for (size_t i = first; i < trace->arg_count && length + 1 < size; i++) {
		int more = snprintf(line + length, size - length, "%s%s", i > first ? " " : "", trace->args[i]);

		length += more > 0 ? (size_t)more : 0;
	}
	for (char *p = line; *p; p++) /* an argument may be a script: keep control characters off the page */
		if ((unsigned char)*p < ' ' || *p == 127)
			*p = ' ';
}

/* The process's parent among the run's processes, or NULL. */
static const struct tpa_process *parent_of(const struct tpa_run *run, const struct tpa_process *process)
{
	for (size_t i = 0; i < run->process_count; i++) {
		const struct tprof_header *header = run->processes[i].trace->header;

		if (&run->processes[i] != process && header->pid == process->trace->header->ppid &&
		    header->start.unix_ns <= process->trace->header->start.unix_ns)
			return &run->processes[i];
	}
	return NULL;
}

const char *tpa_process_label(const struct tpa_run *run, const struct tpa_process *process, const struct tpa_page *page,
			      char *text, size_t size)
{
	const struct tpa_trace *trace = process->trace;
	const struct tpa_process *parent = parent_of(run, process), *outer = parent;
	char line[512], shorter[600];
	size_t depth = 0;

	for (; outer && depth < DEPTH_SHOWN; depth++)
		outer = parent_of(run, outer);
	if (parent && trace->header->origin == TPROF_ORIGIN_FORK)
		snprintf(text, size, "%*sfork of %" PRIu32, (int)(2 * depth), "", parent->trace->header->pid);
	else {
		read_arguments(trace, 1, line, sizeof(line));
		snprintf(text, size, "%*s%.100s%s%s", (int)(2 * depth), "", tpa_program_name(trace), line[0] ? " " : "",
			 tpa_shorten(page, line, 50, shorter, sizeof(shorter)));
	}
	return text;
}

const char *tpa_process_label_of(const struct tpa_run *run, const struct tpa_process *process,
				 const struct tpa_rank_of *rank, const struct tpa_page *page, char *text, size_t size)
{
	char label[800];

	tpa_process_label(run, process, page, label, sizeof(label));
	if (rank->is_rank)
		snprintf(text, size, "rank %" PRIu32 ": %s", rank->number, label + strspn(label, " "));
	else
		snprintf(text, size, "%s", label);
	return text;
}

static void print_arguments(const struct tpa_trace *trace, const struct tpa_page *page, int used)
{
	char line[512], shorter[600];

	read_arguments(trace, 0, line, sizeof(line));
	if (line[0])
		tpa_print(page, TPA_STYLE_PLAIN, ": %s",
			  tpa_shorten(page, line, page->width - used, shorter, sizeof(shorter)));
	fputc('\n', page->out);
}

/*
 * The probability that no block in s bytes is recorded is at least exp(-s / mean), whatever the blocks' sizes. So if
 * none was recorded, there were fewer than 3 means of bytes, at 95%.
 */
static void print_sampling(const struct tpa_process *process, const struct tpa_page *page)
{
	const char *sign = page->utf8 ? "\xc2\xb1" : "+-";
	uint64_t mean = tpa_round(process->unseen.bytes);
	bool limited = process->trace->header->max_overhead != 0;

	tpa_print(page, TPA_STYLE_WARN,
		  "allocations were sampled%s, one each %s%s: numbers with %s are estimates (95%% confidence)",
		  limited ? " at times" : "", tpa_bytes(mean, false).text, limited ? " or more often" : "", sign);
	if (!process->heap.end_bytes)
		tpa_print(page, TPA_STYLE_WARN, "; 0 B %s? may be up to %s", sign,
			  tpa_bytes(mean > UINT64_MAX / 3 ? UINT64_MAX : 3 * mean, false).text);
	fputc('\n', page->out);
}

void tpa_lost_print(const struct tpa_trace *trace, const struct tpa_page *page)
{
	uint64_t lost = tpa_lost_events(trace);

	if (lost)
		tpa_print(page, TPA_STYLE_WARN, "%s event%s lost", tpa_count(lost).text, tpa_plural(lost));
	else if (trace->header->chunks_aside)
		tpa_print(page, TPA_STYLE_WARN, "the disk was full, see below");
	else
		fputs("no event lost", page->out);
}

void tpa_process_print(const struct tpa_process *process, const struct tpa_page *page)
{
	const struct tpa_trace *trace = process->trace;
	int used;

	fputs(tpa_style_on(page, TPA_STYLE_TITLE), page->out);
	used = fprintf(page->out, "%s (%s", tpa_program_name(trace), tpa_process_number(trace).text);
	if (trace->exe[0] && strcmp(tpa_started_name("", trace->exe), tpa_program_name(trace)) != 0)
		used += fprintf(page->out, ", executable %s", tpa_started_name("", trace->exe));
	used += fprintf(page->out, ")");
	fputs(tpa_style_off(page), page->out);
	print_arguments(trace, page, used + 2);
	fprintf(page->out, "%s\n", tpa_run_sentence(process).text);
	if (process->estimated)
		print_sampling(process, page);
}

void tpa_notes_print(const struct tpa_notes *notes, const struct tpa_page *page, size_t most)
{
	size_t shown = most && most < notes->count ? most : notes->count;

	if (!notes->count)
		return;
	fputc('\n', page->out);
	for (size_t i = 0; i < shown; i++)
		tpa_print(page, TPA_STYLE_WARN, "note: %s\n", notes->text[i]);
	if (shown < notes->count)
		tpa_print(page, TPA_STYLE_WARN, "note: and %zu more, see tprof-analyze info\n", notes->count - shown);
}
