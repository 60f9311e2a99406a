/* SPDX-License-Identifier: Apache-2.0 */
/* peak: what was alive when the program held most. */
#include "commands/site_report.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"

static void heading(const struct tp_session *session, const struct tp_process *process)
{
	const struct tp_page *page = &session->page;
	const struct tp_heap *heap = &process->heap;
	struct tp_numbers numbers = { page, process->unseen };

	if (tp_heap_unknown(process)) {
		tp_headline(page, "Peak");
		return;
	}
	tp_headline(page, "Peak: %s in %s block%s, %s after the start",
		    tp_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text,
		    tp_some_count(&numbers, heap->peak_blocks, heap->variance.peak_blocks).text,
		    tp_plural(heap->peak_blocks), tp_time(heap->peak_time_ns - process->start_ns).text);
	fprintf(page->out, "requested bytes of malloc and its kin; usable: %s",
		tp_some_bytes(&numbers, heap->peak_usable, heap->variance.peak_usable).text);
	if (heap->mapped_peak)
		fprintf(page->out, "; mmap at its own peak: %s", tp_bytes(heap->mapped_peak, page->exact).text);
	if (heap->rss_peak)
		fprintf(page->out, "; RSS at most: %s", tp_bytes(heap->rss_peak, page->exact).text);
	fputc('\n', page->out);
}

static bool after(struct tp_session *session, size_t process)
{
	return tp_session_print_makeup(session, process, &session->run->processes[process].makeup.peak,
				       "What RSS was made of at its largest", 10);
}

static void next(const struct tp_session *session)
{
	char names[300];

	tp_next_print(&session->page,
		      "tprof-analyze flamegraph -o peak.svg %s   shows every stack of the peak in a browser",
		      tp_trace_names(session, names, sizeof(names)));
}

int tp_cmd_peak(const struct tp_options *options)
{
	static const struct tp_site_report report = {
		.key = "peak",
		.what = TP_WHAT_PEAK,
		.shape = TP_JSON_PEAK,
		.nothing = "nothing was alive at any time",
		.heading = heading,
		.after = after,
		.next = next,
	};

	return tp_site_report(options, &report);
}
