/* SPDX-License-Identifier: Apache-2.0 */
/* flamegraph: draws all stacks. */
#include <unistd.h>

#include "commands/parts/tree_report.h"
#include "report/export/flame.h"
#include "report/text/numbers.h"

static void write_svg(const struct tpa_tree *tree, const struct tpa_session *session, const char *title)
{
	bool estimated = tpa_run_estimated(session->run) && session->options->what != TPA_WHAT_CPU;
	char unit[64];
	static const char *const units[] = {
		[TPA_WHAT_PEAK] = "blocks",    [TPA_WHAT_ALLOCATED] = "allocations",
		[TPA_WHAT_UNFREED] = "blocks", [TPA_WHAT_TEMPORARY] = "temporary allocations",
		[TPA_WHAT_CPU] = "samples",
	};

	snprintf(unit, sizeof(unit), "%s%s", units[session->options->what], estimated ? " (estimated)" : "");
	tpa_flame_write(tree, title, unit, session->options->what == TPA_WHAT_CPU, session->page.out);
	tpa_session_say_browser(session);
}

int tpa_cmd_flamegraph(const struct tpa_options *options)
{
	if (!options->output && isatty(STDOUT_FILENO)) {
		fputs("tprof-analyze: flamegraph writes an SVG, which a terminal can't show: name a file with -o "
		      "FILE\n",
		      stderr);
		return TPA_EXIT_USAGE;
	}
	return tpa_tree_report(options, write_svg);
}
