/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/coverage.h"
#include "report/text/cpu_listing.h"

struct sum {
	uint64_t pointers, functions, objects;
};

static struct sum sum_of(const struct tpa_trace *trace, unsigned state)
{
	struct sum sum = { 0, 0, 0 };

	for (size_t i = 0; i < trace->hooks_count; i++) {
		if (trace->hooks[i].state != state)
			continue;
		sum.pointers += trace->hooks[i].pointers;
		sum.functions += trace->hooks[i].functions;
		sum.objects += trace->hooks[i].pointers || trace->hooks[i].functions;
	}
	return sum;
}

void tpa_hooks_print_line(const struct tpa_page *page, const struct tpa_trace *trace)
{
	struct sum done = sum_of(trace, TPROF_HOOKS_DONE);

	fprintf(page->out, "%s pointer%s of %s object%s", tpa_count(done.pointers).text, tpa_plural(done.pointers),
		tpa_count(done.objects).text, tpa_plural(done.objects));
	for (unsigned state = 0; state < TPROF_HOOKS_STATES; state++) {
		struct sum sum = sum_of(trace, state);

		if (state != TPROF_HOOKS_DONE && sum.functions)
			fprintf(page->out, "; not %s: %s", tpa_count(sum.functions).text, tpa_hooks_name(state));
	}
	fputc('\n', page->out);
}

void tpa_hooks_print(const struct tpa_page *page, const struct tpa_trace *trace)
{
	if (!trace->hooks_count)
		return;
	fputs("hooked: ", page->out);
	tpa_hooks_print_line(page, trace);
}

void tpa_coverage_print(const struct tpa_page *page, const struct tpa_process *process)
{
	fputc('\n', page->out);
	if (process->trace->hooks_count)
		fputs("  ", page->out);
	tpa_hooks_print(page, process->trace);
	fputs("  CPU time: ", page->out);
	tpa_cpu_print_capture(page, process);
	fputc('\n', page->out);
}
