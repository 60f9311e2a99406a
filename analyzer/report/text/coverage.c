/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/coverage.h"
#include "report/text/cpu_listing.h"

void tpa_hooks_print(const struct tpa_page *page, const struct tpa_trace *trace)
{
	uint64_t timed = 0, missed = 0;

	for (size_t i = 0; i < trace->hooks_count; i++)
		if (!tpa_hooks_ruled(&trace->hooks[i]))
			*(tpa_hooks_hold(&trace->hooks[i]) ? &timed : &missed) += trace->hooks[i].functions;
	if (!trace->hooks_count)
		return;
	fprintf(page->out, "%s library function%s %s timed", tpa_count(timed).text, tpa_plural(timed),
		timed == 1 ? "is" : "are");
	if (missed)
		fprintf(page->out, "; %s more can't be: tprof-analyze info lists them", tpa_count(missed).text);
	fputc('\n', page->out);
}

void tpa_coverage_print(const struct tpa_page *page, const struct tpa_process *process)
{
	fputc('\n', page->out);
	fputs("  CPU time: ", page->out);
	tpa_cpu_print_capture(page, process);
	fputc('\n', page->out);
}
