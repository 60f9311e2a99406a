/* SPDX-License-Identifier: Apache-2.0 */
/* compare: programs side by side; repeated runs of the same program are pooled. */
#include <stdlib.h>

#include "commands/input/machine_file.h"
#include "commands/input/runs.h"
#include "commands/parts/site_report.h"
#include "report/html/html_diff.h"
#include "report/json/json_writer.h"
#include "report/text/compare_listing.h"
#include "base/memory.h"

/* The runs, all of them open. */
struct kept {
	struct tpa_session *sessions;
	const struct tpa_run **runs;
	size_t count, room, run_room;
};

/* Takes ownership of the session's traces and run. */
static void keep(struct tpa_session *session, void *context)
{
	struct kept *kept = context;

	tpa_page_close(session); /* its page is empty */
	tpa_grow(&kept->sessions, &kept->room, kept->count + 1, sizeof(*kept->sessions));
	tpa_grow((void *)&kept->runs, &kept->run_room, kept->count + 1, sizeof(*kept->runs));
	kept->runs[kept->count] = session->run;
	kept->sessions[kept->count] = *session;
	kept->count++;
	*session = (struct tpa_session){ .options = session->options };
}

static void close_all(struct kept *kept, const struct tpa_options *options)
{
	for (size_t i = 0; i < kept->count; i++) {
		kept->sessions[i].options = options;
		tpa_session_close(&kept->sessions[i], TPA_EXIT_OK);
	}
	free(kept->sessions);
	free((void *)kept->runs);
}

/* Drops the reference to `json`. */
static void print_page(const struct tpa_session *page, json_t *json)
{
	tpa_html_compare_page(&(struct tpa_html){ page->page.out, page->options->exact }, json);
	json_decref(json);
	tpa_session_say_browser(page);
}

/* `machine` is NULL if the machine is unknown. */
static int print(const struct tpa_session *page, const struct tpa_variants *variants, const struct tpa_machine *machine)
{
	const struct tpa_options *options = page->options;

	if (!options->json && !options->html && variants->count > TPA_COMPARE_MAX) {
		fprintf(stderr,
			"tprof-analyze: %zu programs are more than stand side by side (%d); --json and --format html "
			"take all\n",
			variants->count, TPA_COMPARE_MAX);
		return TPA_EXIT_USAGE;
	}
	if (options->json) {
		tpa_json_write(tpa_compare_json(variants, machine, options->top_set ? options->top : 0),
			       page->page.out);
		return TPA_EXIT_OK;
	}
	if (options->html) {
		print_page(page, tpa_compare_json(variants, machine, tpa_top(options, 15)));
		return TPA_EXIT_OK;
	}
	tpa_compare_print(&page->page, variants, machine, tpa_top(options, 15));
	tpa_next_coverage_print(page);
	return TPA_EXIT_OK;
}

static int compare(const struct tpa_session *page, const struct kept *kept)
{
	struct tpa_variants variants;
	struct tpa_machine machine;
	bool known;
	int status = tpa_machine_find(page->options, &machine, &known);

	if (status != TPA_EXIT_OK)
		return status;
	tpa_variants_make(&variants, kept->runs, kept->count);
	status = print(page, &variants, known ? &machine : NULL);
	tpa_variants_free(&variants);
	return status;
}

int tpa_cmd_compare(const struct tpa_options *options)
{
	struct kept kept = { NULL };
	struct tpa_session page;
	int status;

	if (options->html && tpa_session_refuses_terminal(options))
		return TPA_EXIT_USAGE;
	status = tpa_page_open(&page, options);
	if (status != TPA_EXIT_OK)
		return status;
	status = tpa_runs_each(options, options->traces, options->trace_count, keep, &kept);
	if (status == TPA_EXIT_OK)
		status = compare(&page, &kept);
	close_all(&kept, options);
	return tpa_session_close(&page, status);
}
