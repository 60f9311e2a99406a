/* SPDX-License-Identifier: Apache-2.0 */
/* export: stacks, or ops over time, in the formats of other tools. */
#include "commands/export.h"

#include "commands/export_chrome.h"
#include "commands/tree_report.h"
#include "report/export/folded.h"

static void write_folded(const struct tpa_tree *tree, const struct tpa_session *session, const char *title)
{
	(void)title;
	tpa_folded_write(tree, session->page.out);
}

static int run_folded(const struct tpa_options *options)
{
	return tpa_tree_report(options, write_folded);
}

const struct tpa_export_format tpa_export_formats[TPA_EXPORT_FORMATS] = {
	{ "folded", run_folded },
	{ "chrome", tpa_export_chrome },
};

int tpa_cmd_export(const struct tpa_options *options)
{
	return options->format->run(options);
}
