/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leaks command. Lists first what grows with the steps, which is a leak. Then lists what was not freed, which alone
 * is not a leak, as the output says.
 */
#include "commands/parts/growth_report.h"
#include "commands/parts/hole_report.h"
#include "commands/parts/site_report.h"

#include "report/rows/growth_pool.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"
#include "report/text/process_listing.h"
#include "report/text/resident_listing.h"

/* Growth is computed per process, by stack or by what stacks group to. */
static bool has_growth(const struct tpa_session *session, size_t process)
{
	enum tpa_by by = session->options->by;

	return process < session->run->process_count && (by == TPA_BY_STACK || tpa_growth_pools_by(by));
}

static void print_copied(const struct tpa_session *session, const struct tpa_process *process)
{
	const struct tpa_page *page = &session->page;
	char text[400];

	if (tpa_makeup_copied(page, process, text, sizeof(text)))
		tpa_print(page, TPA_STYLE_WARN, "\nit grew without an allocation: %s\n", text);
}

/* Prints the memory that none of the blocks in the rest of the report hold. */
static void print_makeup(struct tpa_session *session, size_t process)
{
	const struct tpa_process *processes = session->run->processes;

	if (process == session->run->process_count)
		return;
	print_copied(session, &processes[process]);
	tpa_session_print_makeup(session, process, &processes[process].makeup.end,
				 "What RSS was made of when it was read last", 10);
	tpa_session_print_holes(session, process);
}

static void before(struct tpa_session *session, size_t process)
{
	if (has_growth(session, process))
		tpa_growth_section_print(session, process);
	print_makeup(session, process);
}

static void before_json(struct tpa_session *session, size_t process, json_t *json)
{
	if (has_growth(session, process))
		tpa_growth_section_json(session, process, json);
}

static void heading(const struct tpa_session *session, const struct tpa_process *process)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };

	if (tpa_heap_unknown(process)) {
		tpa_headline(page, "What was %s", tpa_unfreed_phrase(process, session->options->to_ns));
		return;
	}
	tpa_headline(page, "%s in %s block%s %s",
		     tpa_some_bytes(&numbers, heap->end_bytes, heap->variance.live_bytes).text,
		     tpa_some_count(&numbers, heap->end_blocks, heap->variance.live_blocks).text,
		     tpa_plural(heap->end_blocks), tpa_unfreed_phrase(process, session->options->to_ns));
	if (heap->end_blocks)
		fputs("not freed is not yet leaked: caches and tables kept until the end are here too\n", page->out);
}

static void combined_heading(const struct tpa_session *session)
{
	tpa_headline(&session->page, "Unfreed in all processes together");
}

static void next(const struct tpa_session *session)
{
	tpa_next_print(&session->page, "tprof-analyze timeline %s   shows whether live memory grows without end",
		       tpa_trace_names(session).text);
}

int tpa_cmd_leaks(const struct tpa_options *options)
{
	static const struct tpa_site_report report = {
		.key = "unfreed",
		.what = TPA_WHAT_UNFREED,
		.shape = TPA_JSON_UNFREED,
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

	return tpa_site_report(options, &report);
}
