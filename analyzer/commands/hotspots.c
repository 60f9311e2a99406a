/* SPDX-License-Identifier: Apache-2.0 */
/* hotspots: where the CPU time goes; who allocates most, and what of it is gone again at once. */
#include "commands/cpu_report.h"
#include "commands/site_report.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"

static void heading(const struct tp_session *session, const struct tp_process *process)
{
	const struct tp_page *page = &session->page;
	const struct tp_heap *heap = &process->heap;
	struct tp_numbers numbers = { page, process->unseen };

	if (tp_heap_unknown(process)) {
		tp_headline(page, "Allocations");
		return;
	}
	tp_headline(page, "%s allocation%s of %s in all",
		    tp_some_count(&numbers, heap->allocations, heap->variance.allocations).text,
		    tp_plural(heap->allocations), tp_some_bytes(&numbers, heap->bytes, heap->variance.bytes).text);
	if (!process->estimated)
		fprintf(page->out, "temporary (freed by the thread's very next event): %s, %s; ",
			tp_count(heap->temporary).text, tp_percent(heap->temporary, heap->allocations).text);
	fprintf(page->out, "short-lived (freed within %s): %s, ", tp_time(TP_SHORT_LIVED_NS).text,
		tp_some_count(&numbers, heap->short_lived, heap->variance.short_lived).text);
	fprintf(page->out, "%s\n", tp_some_percent(&numbers, heap->short_lived, heap->allocations).text);
}

static void combined_heading(const struct tp_session *session)
{
	tp_headline(&session->page, "Allocations of all processes together");
}

static void next(const struct tp_session *session)
{
	const struct tp_cpu *cpu = &session->run->processes[0].cpu;
	const char *what = tp_run_estimated(session->run) ? "allocated" : "temporary";
	char names[300];

	if (cpu->samples)
		tp_next_print(&session->page,
			      "tprof-analyze flamegraph --what cpu -o cpu.svg %s   shows the CPU time's stacks in a "
			      "browser",
			      tp_trace_names(session, names, sizeof(names)));
	else
		tp_next_print(&session->page,
			      "tprof-analyze flamegraph --what %s -o %s.svg %s   shows where these come from", what,
			      what, tp_trace_names(session, names, sizeof(names)));
}

int tp_cmd_hotspots(const struct tp_options *options)
{
	struct tp_site_report report = {
		.key = "hotspots",
		.what = TP_WHAT_ALLOCATED,
		.shape = TP_JSON_HOT,
		.hotspots = true,
		.additive = true,
		.nothing = "nothing was allocated",
		.before = tp_cpu_section_print,
		.before_json = tp_cpu_section_json,
		.nothing_else = options->relation != TP_RELATION_NONE,
		.heading = heading,
		.combined_heading = combined_heading,
		.next = next,
	};

	return tp_site_report(options, &report);
}
