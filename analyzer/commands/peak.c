/* SPDX-License-Identifier: Apache-2.0 */
/* peak: live memory at the peak. */
#include "commands/parts/hole_report.h"
#include "commands/parts/cover_report.h"
#include "commands/parts/site_report.h"
#include "report/text/coverage.h"
#include "report/text/numbers.h"

static void heading(const struct tpa_session *session, const struct tpa_process *process)
{
	const struct tpa_page *page = &session->page;
	const struct tpa_heap *heap = &process->heap;
	struct tpa_numbers numbers = { page, process->unseen };

	if (tpa_heap_unknown(process)) {
		tpa_headline(page, "Peak");
		return;
	}
	tpa_headline(page, "Peak: %s in %s block%s, %s after the start",
		     tpa_some_bytes(&numbers, heap->peak_bytes, heap->variance.peak_bytes).text,
		     tpa_some_count(&numbers, heap->peak_blocks, heap->variance.peak_blocks).text,
		     tpa_plural(heap->peak_blocks), tpa_time(heap->peak_time_ns - process->start_ns).text);
	fprintf(page->out, "requested bytes of malloc and its kin; usable: %s",
		tpa_some_bytes(&numbers, heap->peak_usable, heap->variance.peak_usable).text);
	if (heap->mapped_peak)
		fprintf(page->out, "; mmap at its own peak: %s", tpa_bytes(heap->mapped_peak, page->exact).text);
	if (heap->rss_peak)
		fprintf(page->out, "; RSS at most: %s", tpa_bytes(heap->rss_peak, page->exact).text);
	fputc('\n', page->out);
}

static void after(struct tpa_session *session, size_t process)
{
	tpa_session_print_makeup(session, process, &session->run->processes[process].makeup.peak,
				 "What RSS was made of at its largest", 10);
	tpa_session_print_holes(session, process);
}

static void next(const struct tpa_session *session)
{
	tpa_next_print(&session->page,
		       "tprof-analyze flamegraph -o peak.svg %s   shows every stack of the peak in a browser",
		       tpa_trace_names(session).text);
}

/* The cover of each process; covers can't be combined. */
static void cover_json(struct tpa_session *session, size_t process, json_t *json)
{
	struct tpa_cover *cover;

	if (process == session->run->process_count)
		return;
	cover = tpa_session_peak_cover(session, process, TPA_COVER_ROWS);
	tpa_json_set(json, "cover", tpa_cover_json(session->run, cover));
	tpa_cover_free(cover);
}

int tpa_cmd_peak(const struct tpa_options *options)
{
	static const struct tpa_site_report report = {
		.key = "peak",
		.what = TPA_WHAT_PEAK,
		.shape = TPA_JSON_PEAK,
		.nothing = "nothing was alive at any time",
		.heading = heading,
		.before_json = cover_json,
		.after = after,
		.next = next,
	};

	return tpa_site_report(options, &report);
}
