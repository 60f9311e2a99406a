/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/related.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN 5 /* of each kind */

static void print_replaced(const struct tp_trace *trace, const struct tp_others *others, const struct tp_page *page)
{
	const struct tp_other *next = tp_next_program(trace, others);

	if (next)
		tp_print(page, TP_STYLE_TITLE, "replaced by %s: see %s\n", next->name, next->file);
}

static void print_children(const struct tp_trace *trace, const struct tp_others *others, const struct tp_page *page,
			   enum tp_relative wanted)
{
	size_t count = 0;

	for (size_t i = 0; i < others->count; i++) {
		const struct tp_other *other = &others->list[i];

		if (tp_relation_of(trace->header, &other->header) != wanted || ++count > SHOWN)
			continue;
		if (wanted == TP_RELATIVE_FORKED)
			fprintf(page->out, "forked pid %" PRIu32 ": see %s\n", other->header.pid, other->file);
		else
			fprintf(page->out, "started %s (pid %" PRIu32 "): see %s\n", other->name, other->header.pid,
				other->file);
	}
	if (count > SHOWN)
		fprintf(page->out, "%s %zu more\n", wanted == TP_RELATIVE_FORKED ? "forked" : "started", count - SHOWN);
}

static void print_untraced(const struct tp_trace *trace, const struct tp_page *page)
{
	const struct tprof_untraced *note;
	char name[sizeof(note->name)];

	for (size_t at = 0; (note = tp_next_untraced(trace, &at, name));) {
		if (note->why == TPROF_UNFOLLOWED_OUTPUT)
			tp_print(page, TP_STYLE_WARN, "forked pid %" PRIu32, note->pid);
		else if (tp_untraced_replaced(trace, note))
			tp_print(page, TP_STYLE_WARN, "replaced by %s", name);
		else
			tp_print(page, TP_STYLE_WARN, "started %s (pid %" PRIu32 ")", name, note->pid);
		if (note->count > 1)
			tp_print(page, TP_STYLE_WARN, " and %s more", tp_count(note->count - 1).text);
		tp_print(page, TP_STYLE_WARN, ", not recorded: %s", tp_untraced_reason(note));
		tp_print(page, TP_STYLE_WARN, note->why == TPROF_UNFOLLOWED_OUTPUT ? ": %s\n" : "\n", name);
	}
	if (trace->header->untraced_more)
		tp_print(page, TP_STYLE_WARN, "started %s more that are not recorded\n",
			 tp_count(trace->header->untraced_more).text);
}

static void print_rest(const struct tp_trace *trace, const struct tp_others *others, const struct tp_page *page)
{
	size_t count = 0;

	for (size_t i = 0; i < others->count; i++) {
		const struct tp_other *other = &others->list[i];

		if (tp_relation_of(trace->header, &other->header) != TP_RELATIVE_ELSE || ++count > SHOWN)
			continue;
		fprintf(page->out, "%s%s (%s)", count == 1 ? "also of this run: " : ", ", other->file, other->name);
	}
	if (count > SHOWN)
		fprintf(page->out, " and %zu more", count - SHOWN);
	if (count)
		fputc('\n', page->out);
}

void tp_others_print(const struct tp_trace *trace, const struct tp_page *page)
{
	struct tp_others others;

	if (tp_others_find(trace, &others)) {
		print_replaced(trace, &others, page);
		print_children(trace, &others, page, TP_RELATIVE_STARTED);
		print_children(trace, &others, page, TP_RELATIVE_FORKED);
		print_untraced(trace, page);
		print_rest(trace, &others, page);
	}
	tp_others_free(&others);
}

/* ---- JSON ---- */
