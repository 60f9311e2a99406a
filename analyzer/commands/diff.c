/* SPDX-License-Identifier: Apache-2.0 */
/* diff: what changed between two runs or two groups of runs, and whether chance alone explains it. */
#include "commands/input/runs.h"
#include "commands/parts/site_report.h"
#include "report/html/html_diff.h"
#include "report/json/diff_json.h"
#include "report/json/json_writer.h"
#include "report/text/diff_listing.h"

struct adding {
	struct tpa_diff *diff;
	int side;
};

static void add(struct tpa_session *session, void *context)
{
	struct adding *adding = context;

	tpa_session_open_symbols(session);
	tpa_diff_add(adding->diff, adding->side, session->run, session->symbols);
}

static int add_side(const struct tpa_options *options, struct tpa_diff *diff, int side, const char *const *files,
		    size_t count)
{
	struct adding adding = { diff, side };

	return tpa_runs_each(options, files, count, add, &adding);
}

static int add_sides(const struct tpa_options *options, struct tpa_diff *diff)
{
	size_t old_count = options->baseline_count ? 0 : 1;
	int status = old_count ? add_side(options, diff, 0, options->traces, 1)
			       : add_side(options, diff, 0, options->baselines, options->baseline_count);

	if (status == TPA_EXIT_OK)
		status = add_side(options, diff, 1, options->traces + old_count, options->trace_count - old_count);
	return status;
}

static void print(struct tpa_session *page, struct tpa_diff *diff)
{
	const struct tpa_diff_choice choice = { tpa_top(page->options, 10), !page->options->json };
	json_t *json;

	tpa_diff_test(diff);
	json = tpa_diff_json(diff, choice);
	if (page->options->json) {
		tpa_json_write(json, page->page.out);
		return;
	}
	if (page->options->html) {
		tpa_html_diff_page(&(struct tpa_html){ page->page.out, page->options->exact }, json);
		tpa_session_say_browser(page);
	} else {
		tpa_diff_print(&page->page, json);
		tpa_next_coverage_print(page);
	}
	json_decref(json);
}

static int compare(const struct tpa_options *options, struct tpa_session *page)
{
	struct tpa_diff diff;
	int status;

	tpa_diff_init(&diff, options->by_set ? options->by : TPA_BY_STACK, page->filter);
	status = add_sides(options, &diff);
	if (status == TPA_EXIT_OK)
		print(page, &diff);
	tpa_diff_free(&diff);
	return status;
}

int tpa_cmd_diff(const struct tpa_options *options)
{
	struct tpa_session page;
	int status;

	if (!options->baseline_count && options->trace_count != 2) {
		fprintf(stderr,
			"tprof-analyze: diff: %zu trace%s given; it takes two: diff OLD NEW; or, of several runs, diff "
			"--baseline OLD --baseline OLD... NEW NEW...\n",
			options->trace_count, options->trace_count == 1 ? "" : "s");
		return TPA_EXIT_USAGE;
	}
	if (options->html && tpa_session_refuses_terminal(options))
		return TPA_EXIT_USAGE;
	status = tpa_page_open(&page, options);
	if (status != TPA_EXIT_OK)
		return status;
	status = compare(options, &page);
	return tpa_session_close(&page, status);
}
