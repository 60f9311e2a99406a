/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/related.h"

#include <inttypes.h>
#include <string.h>

#include "base/pairs.h"

#define SHOWN 5 /* most processes listed of each kind */

static void print_replaced(const struct tpa_trace *trace, const struct tpa_others *others, const struct tpa_page *page)
{
	const struct tpa_other *next = tpa_next_program(trace, others);

	if (next)
		tpa_print(page, TPA_STYLE_TITLE, "replaced by %s: see %s\n", next->name, next->file);
}

static void print_children(const struct tpa_trace *trace, const struct tpa_others *others, const struct tpa_page *page,
			   enum tpa_relative wanted)
{
	size_t count = 0;

	for (size_t i = 0; i < others->count; i++) {
		const struct tpa_other *other = others->list[i];

		if (tpa_relation_of(trace->header, &other->header) != wanted || ++count > SHOWN)
			continue;
		if (wanted == TPA_RELATIVE_FORKED)
			fprintf(page->out, "forked pid %" PRIu32 ": see %s\n", other->header.pid, other->file);
		else
			fprintf(page->out, "started %s (pid %" PRIu32 "): see %s\n", other->name, other->header.pid,
				other->file);
	}
	if (count > SHOWN)
		fprintf(page->out, "%s %zu more\n", wanted == TPA_RELATIVE_FORKED ? "forked" : "started",
			count - SHOWN);
}

static void print_one_untraced(const struct tprof_header *header, const struct tprof_untraced *note, const char *name,
			       const struct tpa_page *page)
{
	bool fork = note->why == TPROF_UNFOLLOWED_OUTPUT;
	const char *advice = tpa_untraced_advice(note, name);

	if (fork)
		tpa_print(page, TPA_STYLE_WARN, "forked pid %" PRIu32, note->pid);
	else if (tpa_untraced_replaced(header, note))
		tpa_print(page, TPA_STYLE_WARN, "replaced by %s", name);
	else if (note->pid)
		tpa_print(page, TPA_STYLE_WARN, "started %s (pid %" PRIu32 ")", name, note->pid);
	else
		tpa_print(page, TPA_STYLE_WARN, "started %s", name);
	if (note->count > 1)
		tpa_print(page, TPA_STYLE_WARN, " and %s more", tpa_count(note->count - 1).text);
	tpa_print(page, TPA_STYLE_WARN, ", not recorded: %s", tpa_untraced_reason(note));
	if (fork)
		tpa_print(page, TPA_STYLE_WARN, ": %s", name);
	if (advice)
		tpa_print(page, TPA_STYLE_WARN, "; to record it, %s", advice);
	tpa_print(page, TPA_STYLE_WARN, "\n");
}

void tpa_untraced_print(const struct tpa_trace *trace, const struct tpa_page *page)
{
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t at = 0; (note = tpa_next_untraced(trace->header, &at, name));)
		print_one_untraced(trace->header, note, name, page);
	if (trace->header->untraced_more)
		tpa_print(page, TPA_STYLE_WARN, "started %s more that are not recorded\n",
			  tpa_count(trace->header->untraced_more).text);
}

static void print_forks_untraced(const struct tpa_trace *trace, const struct tpa_others *others,
				 const struct tpa_page *page)
{
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t i = 0; i < others->count; i++) {
		note = tpa_forks_untraced(trace->header, &others->list[i]->header, name);
		if (note)
			print_one_untraced(trace->header, note, name, page);
	}
}

static void print_rest(const struct tpa_trace *trace, const struct tpa_others *others, const struct tpa_page *page)
{
	size_t count = 0;

	for (size_t i = 0; i < others->count; i++) {
		const struct tpa_other *other = others->list[i];

		if (tpa_relation_of(trace->header, &other->header) != TPA_RELATIVE_ELSE || ++count > SHOWN)
			continue;
		fprintf(page->out, "%s%s (%s)", count == 1 ? "also of this run: " : ", ", other->file, other->name);
	}
	if (count > SHOWN)
		fprintf(page->out, " and %zu more", count - SHOWN);
	if (count)
		fputc('\n', page->out);
}

/* Removes those that are in the report themselves. */
static void leave_out(struct tpa_others *others, const struct tpa_run *run)
{
	struct tpa_pairs reported = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < run->process_count; i++) {
		const struct tprof_header *header = run->processes[i].trace->header;

		tpa_pairs_set(&reported, header->pid, header->start.ticks, 1);
	}
	for (size_t i = 0; i < others->count; i++) {
		const struct tprof_header *header = &others->list[i]->header;

		if (!tpa_pairs_find(&reported, header->pid, header->start.ticks))
			others->list[kept++] = others->list[i];
	}
	others->count = kept;
	tpa_pairs_free(&reported);
}

void tpa_others_print(const struct tpa_run *run, const struct tpa_process *process, const struct tpa_page *page)
{
	const struct tpa_trace *trace = process->trace;
	struct tpa_others all, others;

	tpa_others_find(trace, &all);
	tpa_others_find(trace, &others);
	leave_out(&others, run);
	print_replaced(trace, &others, page);
	print_children(trace, &others, page, TPA_RELATIVE_STARTED);
	print_children(trace, &others, page, TPA_RELATIVE_FORKED);
	tpa_untraced_print(trace, page);
	print_forks_untraced(trace, &all, page);
	if (tpa_replaced_by_unknown(trace, &all))
		tpa_print(page, TPA_STYLE_WARN, "replaced by a program that has no trace beside this one\n");
	print_rest(trace, &others, page);
	tpa_others_free(&others);
	tpa_others_free(&all);
}
