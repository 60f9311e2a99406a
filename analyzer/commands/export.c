/* SPDX-License-Identifier: Apache-2.0 */
/* export: stacks, and ops over time, for other tools. */
#include "commands/export.h"

#include "commands/export_chrome.h"
#include "commands/tree_report.h"
#include "report/export/folded.h"

static void write_folded(const struct tp_tree *tree, const struct tp_session *session, const char *title)
{
	(void)title;
	tp_folded_write(tree, session->page.out);
}

static int run_folded(const struct tp_options *options)
{
	return tp_tree_report(options, write_folded);
}

const struct tp_export_format tp_export_formats[TP_EXPORT_FORMATS] = {
	{ "folded", run_folded },
	{ "chrome", tp_export_chrome },
};

int tp_cmd_export(const struct tp_options *options)
{
	return options->format->run(options);
}
