/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaks: what grows with the steps, which is a leak; then what was not freed. That alone makes nothing a leak, and the words
 * say so.
 */
#include "commands/growth_report.h"
#include "commands/site_report.h"

#include "report/rows/growth_pool.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"
#include "report/text/resident_listing.h"

/* Growth is each process's own: of stacks, or of what stacks can be put together to. */
static bool has_growth(const struct tp_session *session, size_t process)
{
	enum tp_by by = session->options->by;

	return process < session->run->process_count && (by == TP_BY_STACK || tp_growth_pools_by(by));
}

static void print_copied(const struct tp_session *session, const struct tp_process *process)
{
	const struct tp_page *page = &session->page;
	char text[400];

	if (tp_makeup_copied(page, process, text, sizeof(text)))
		tp_print(page, TP_STYLE_WARN, "\nit grew without an allocation: %s\n", text);
}

/* What memory is held by none of the blocks that the rest of the report is about. */
static bool print_makeup(struct tp_session *session, size_t process)
{
	const struct tp_process *processes = session->run->processes;

	if (process == session->run->process_count)
		return true;
	print_copied(session, &processes[process]);
	return tp_session_print_makeup(session, process, &processes[process].makeup.end,
				       "What RSS was made of when it was read last", 10);
}

static bool before(struct tp_session *session, size_t process)
{
	return (!has_growth(session, process) || tp_growth_section_print(session, process)) &&
	       print_makeup(session, process);
}

static bool before_json(struct tp_session *session, size_t process, json_t *json)
{
	return !has_growth(session, process) || tp_growth_section_json(session, process, json);
}

static void heading(const struct tp_session *session, const struct tp_process *process)
{
	const struct tp_page *page = &session->page;
	const struct tp_heap *heap = &process->heap;
	struct tp_numbers numbers = { page, process->unseen };

	if (tp_heap_unknown(process)) {
		tp_headline(page, "What was %s", tp_unfreed_phrase(process, session->options->to_ns));
		return;
	}
	tp_headline(page, "%s in %s block%s %s",
		    tp_some_bytes(&numbers, heap->end_bytes, heap->variance.live_bytes).text,
		    tp_some_count(&numbers, heap->end_blocks, heap->variance.live_blocks).text,
		    tp_plural(heap->end_blocks), tp_unfreed_phrase(process, session->options->to_ns));
	if (heap->end_blocks)
		fputs("not freed is not yet leaked: caches and tables kept until the end are here too\n", page->out);
}

static void combined_heading(const struct tp_session *session)
{
	tp_headline(&session->page, "Unfreed in all processes together");
}

static void next(const struct tp_session *session)
{
	char names[300];

	tp_next_print(&session->page, "tprof-analyze timeline %s   shows whether live memory grows without end",
		      tp_trace_names(session, names, sizeof(names)));
}

int tp_cmd_leaks(const struct tp_options *options)
{
	static const struct tp_site_report report = {
		.key = "unfreed",
		.what = TP_WHAT_UNFREED,
		.shape = TP_JSON_UNFREED,
		.suppress = true,
		.additive = true,
		.before = before,
		.before_json = before_json,
		.nothing = "everything was freed",
		.nothing_seen = "everything that was seen was freed; another allocator's blocks were not seen",
		.nothing_besides = "everything else was freed",
		.heading = heading,
		.combined_heading = combined_heading,
		.next = next,
	};

	return tp_site_report(options, &report);
}
