/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/parts/cover_report.h"

#include "report/text/cover_listing.h"

struct tpa_cover *tpa_session_peak_cover(struct tpa_session *session, size_t index, size_t most)
{
	const struct tpa_options *options = session->options;
	struct tpa_cover *cover = tpa_cover_new();

	tpa_cover_add_peak(cover, &session->run->processes[index], index, tpa_session_symbols(session, index),
			   session->filter);
	tpa_cover_finish(cover, options->top_set ? (size_t)options->top : most);
	return cover;
}

struct tpa_cover *tpa_session_cpu_cover(struct tpa_session *session, size_t index, size_t most)
{
	struct tpa_cover *cover = tpa_cover_new();

	tpa_cover_add_cpu(cover, &session->run->processes[index], index, tpa_session_symbols(session, index),
			  session->filter);
	tpa_cover_finish(cover, most);
	return cover;
}

struct tpa_cover *tpa_run_cpu_cover(struct tpa_session *session, size_t most)
{
	struct tpa_cover *cover = tpa_cover_new();

	for (size_t i = 0; i < session->run->process_count; i++)
		if (session->run->processes[i].cpu.samples)
			tpa_cover_add_cpu(cover, &session->run->processes[i], i, tpa_session_symbols(session, i),
					  session->filter);
	tpa_cover_finish(cover, most);
	return cover;
}

void tpa_peak_cover_print(struct tpa_session *session, const struct tpa_cover *cover)
{
	const struct tpa_page *page = &session->page;

	if (!cover->count)
		return;
	tpa_cover_print(page, session->run, cover, false);
	tpa_print(page, TPA_STYLE_DIM, "  %s of the peak in %zu row%s, by %s; --by stack lists the stacks\n",
		  tpa_percent(cover->covered, cover->amount).text, cover->count, tpa_plural(cover->count),
		  tpa_cover_is_by_line(cover) ? "line" : "function");
}
