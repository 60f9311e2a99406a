/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/hole_report.h"

#include "commands/parts/site_report.h"
#include "report/text/cover_listing.h"

#define MATTERS (UINT64_C(8) << 20)
#define MATTERS_PART 10 /* omit the section below one part in this many of RSS */
#define ROWS 4

static void print_help(const struct tpa_page *page, const struct tpa_hole_sum *sum)
{
	if (sum->pages >= sum->holes / 2)
		tpa_print(page, TPA_STYLE_DIM, "  malloc_trim(0) would return %s of it to the system\n",
			  tpa_bytes(sum->pages, page->exact).text);
	if (sum->wide >= sum->holes / 2)
		tpa_print(
			page, TPA_STYLE_DIM,
			"  MALLOC_MMAP_THRESHOLD_=131072 in the environment: large blocks get pages of their own, and "
			"none stays between\n");
	if (sum->arenas && sum->apart >= (sum->holes + sum->ends) / 2)
		tpa_print(page, TPA_STYLE_DIM,
			  "  MALLOC_ARENA_MAX=1 in the environment: threads share one heap in place of %s\n",
			  tpa_count(sum->arenas + 1).text);
}

void tpa_session_print_holes(struct tpa_session *session, size_t index)
{
	const struct tpa_process *process = &session->run->processes[index];
	const struct tpa_hole_reading *peak = &process->holes.peak;
	uint64_t rss = process->makeup.peak.sample.rss;
	const struct tpa_page *page = &session->page;
	struct tpa_cover *cover;

	if (session->options->filter || session->options->thread || peak->sum.holes < MATTERS ||
	    peak->sum.holes < rss / MATTERS_PART)
		return;
	tpa_headline(page, "Fragmentation: %s of %s RSS is free, but between live blocks, so that it can't be returned",
		     tpa_bytes(peak->sum.holes, page->exact).text, tpa_bytes(rss, page->exact).text);
	cover = tpa_cover_new();
	tpa_cover_add_holes(cover, process, index, tpa_session_symbols(session, index), peak);
	tpa_cover_finish(cover, (size_t)tpa_top(session->options, ROWS));
	tpa_cover_print(page, session->run, cover, false);
	tpa_cover_free(cover);
	print_help(page, &peak->sum);
}
