/* SPDX-License-Identifier: Apache-2.0 */
/* hotspots: where the CPU time goes, who allocates most, and how much of it is freed at once. */
#include "commands/parts/cpu_report.h"
#include "commands/parts/site_report.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"

static void heading(const struct tpa_session *session, const struct tpa_process *process)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };

	if (tpa_heap_unknown(process)) {
		tpa_headline(page, "Allocations");
		return;
	}
	tpa_headline(page, "%s allocation%s of %s in all",
		     tpa_some_count(&numbers, heap->allocations, heap->variance.allocations).text,
		     tpa_plural(heap->allocations), tpa_some_bytes(&numbers, heap->bytes, heap->variance.bytes).text);
	if (!process->estimated)
		fprintf(page->out, "temporary (freed by the thread's very next event): %s, %s; ",
			tpa_count(heap->temporary).text, tpa_percent(heap->temporary, heap->allocations).text);
	fprintf(page->out, "short-lived (freed within %s): %s, ", tpa_time(TPA_SHORT_LIVED_NS).text,
		tpa_some_count(&numbers, heap->short_lived, heap->variance.short_lived).text);
	fprintf(page->out, "%s\n", tpa_some_percent(&numbers, heap->short_lived, heap->allocations).text);
}

static void combined_heading(const struct tpa_session *session)
{
	tpa_headline(&session->page, "Allocations of all processes together");
}

static void next(const struct tpa_session *session)
{
	const struct tpa_cpu *cpu = &session->run->processes[0].cpu;
	const char *what = tpa_run_estimated(session->run) ? "allocated" : "temporary";

	if (cpu->samples)
		tpa_next_print(&session->page,
			       "tprof-analyze flamegraph --what cpu -o cpu.svg %s   shows the CPU time's stacks in a "
			       "browser",
			       tpa_trace_names(session).text);
	else
		tpa_next_print(&session->page,
			       "tprof-analyze flamegraph --what %s -o %s.svg %s   shows where these come from", what,
			       what, tpa_trace_names(session).text);
}

int tpa_cmd_hotspots(const struct tpa_options *options)
{
	struct tpa_site_report report = {
		.key = "hotspots",
		.what = TPA_WHAT_ALLOCATED,
		.shape = TPA_JSON_HOT,
		.hotspots = true,
		.additive = true,
		.nothing = "nothing was allocated",
		.before = tpa_cpu_section_print,
		.before_json = tpa_cpu_section_json,
		.nothing_else = options->relation != TPA_RELATION_NONE,
		.heading = heading,
		.combined_heading = combined_heading,
		.next = next,
	};

	return tpa_site_report(options, &report);
}
