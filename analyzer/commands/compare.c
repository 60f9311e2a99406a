/* SPDX-License-Identifier: Apache-2.0 */
/* compare: programs side by side, repeated runs of one pooled. */
#include "commands/machine_file.h"
#include "commands/site_report.h"
#include "report/compare_listing.h"

int tp_cmd_compare(const struct tp_options *options)
{
	struct tp_variants variants;
	struct tp_machine machine;
	struct tp_session session;
	bool known;
	int status = tp_session_start(&session, options);

	if (status != TP_EXIT_OK)
		return status;
	status = tp_machine_find(options, &machine, &known);
	if (status != TP_EXIT_OK)
		return tp_session_close(&session, status);
	if (!tp_variants_make(&variants, session.run))
		return tp_session_out_of_memory(&session);
	if (!options->json && variants.count > TP_COMPARE_MAX) {
		fprintf(stderr, "tprof-analyze: %zu programs are more than stand side by side (%d); --json takes all\n",
			variants.count, TP_COMPARE_MAX);
		status = TP_EXIT_USAGE;
	} else if (options->json) {
		if (!tp_json_write(tp_compare_json(&variants, known ? &machine : NULL), session.page.out))
			status = tp_out_of_memory();
	} else {
		tp_compare_print(&session.page, &variants, known ? &machine : NULL, tp_top(options, 15));
	}
	tp_variants_free(&variants);
	return tp_session_close(&session, status);
}
