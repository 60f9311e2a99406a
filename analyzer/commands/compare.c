/* SPDX-License-Identifier: Apache-2.0 */
/* compare: programs side by side, repeated runs of one pooled. */
#include <stdlib.h>

#include "commands/machine_file.h"
#include "commands/runs.h"
#include "commands/site_report.h"
#include "report/text/compare_listing.h"
#include "base/reserve.h"

/* The runs, all of them open. */
struct kept {
	struct tp_session *sessions;
	const struct tp_run **runs;
	size_t count, room, run_room;
};

/* What the session has is ours from now on. */
static bool keep(struct tp_session *session, void *context)
{
	struct kept *kept = context;

	tp_page_close(session); /* nothing is on it */
	if (!tp_reserve(&kept->sessions, &kept->room, kept->count + 1, sizeof(*kept->sessions)) ||
	    !tp_reserve((void *)&kept->runs, &kept->run_room, kept->count + 1, sizeof(*kept->runs)))
		return false;
	kept->runs[kept->count] = session->run;
	kept->sessions[kept->count] = *session;
	kept->count++;
	*session = (struct tp_session){ .options = session->options };
	return true;
}

static void close_all(struct kept *kept, const struct tp_options *options)
{
	for (size_t i = 0; i < kept->count; i++) {
		kept->sessions[i].options = options;
		tp_session_close(&kept->sessions[i], TP_EXIT_OK);
	}
	free(kept->sessions);
	free((void *)kept->runs);
}

/* `machine` NULL: nothing is known of it. */
static int print(const struct tp_session *page, const struct tp_variants *variants, const struct tp_machine *machine)
{
	const struct tp_options *options = page->options;

	if (!options->json && variants->count > TP_COMPARE_MAX) {
		fprintf(stderr, "tprof-analyze: %zu programs are more than stand side by side (%d); --json takes all\n",
			variants->count, TP_COMPARE_MAX);
		return TP_EXIT_USAGE;
	}
	if (options->json) {
		json_t *json = tp_compare_json(variants, machine, options->top_set ? options->top : 0);

		return tp_json_write(json, page->page.out) ? TP_EXIT_OK : tp_out_of_memory();
	}
	tp_compare_print(&page->page, variants, machine, tp_top(options, 15));
	tp_next_coverage_print(page);
	return TP_EXIT_OK;
}

static int compare(const struct tp_session *page, const struct kept *kept)
{
	struct tp_variants variants;
	struct tp_machine machine;
	bool known;
	int status = tp_machine_find(page->options, &machine, &known);

	if (status != TP_EXIT_OK)
		return status;
	tp_variants_make(&variants, kept->runs, kept->count);
	status = print(page, &variants, known ? &machine : NULL);
	tp_variants_free(&variants);
	return status;
}

int tp_cmd_compare(const struct tp_options *options)
{
	struct kept kept = { NULL };
	struct tp_session page;
	int status = tp_page_open(&page, options);

	if (status != TP_EXIT_OK)
		return status;
	status = tp_runs_each(options, options->traces, options->trace_count, keep, &kept);
	if (status == TP_EXIT_OK)
		status = compare(&page, &kept);
	close_all(&kept, options);
	return tp_session_close(&page, status);
}
