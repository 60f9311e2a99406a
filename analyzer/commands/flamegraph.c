/* SPDX-License-Identifier: Apache-2.0 */
/* flamegraph: a picture of all stacks. */
#include <unistd.h>

#include "commands/tree_report.h"
#include "report/export/flame.h"
#include "report/text/numbers.h"

static void write_svg(const struct tp_tree *tree, const struct tp_session *session, const char *title)
{
	bool estimated = tp_run_estimated(session->run) && session->options->what != TP_WHAT_CPU;
	char unit[64];
	static const char *const units[] = {
		[TP_WHAT_PEAK] = "blocks",    [TP_WHAT_ALLOCATED] = "allocations",
		[TP_WHAT_UNFREED] = "blocks", [TP_WHAT_TEMPORARY] = "temporary allocations",
		[TP_WHAT_CPU] = "samples",
	};

	snprintf(unit, sizeof(unit), "%s%s", units[session->options->what], estimated ? " (estimated)" : "");
	tp_flame_write(tree, title, unit, session->options->what == TP_WHAT_CPU, session->page.out);
	tp_session_say_browser(session);
}

int tp_cmd_flamegraph(const struct tp_options *options)
{
	if (!options->output && isatty(STDOUT_FILENO)) {
		fputs("tprof-analyze: flamegraph writes an SVG, which a terminal can't show: name a file with -o "
		      "FILE\n",
		      stderr);
		return TP_EXIT_USAGE;
	}
	return tp_tree_report(options, write_svg);
}
