/* SPDX-License-Identifier: Apache-2.0 */
/* The values of options that take one of a few words. */
#include <string.h>

#include "commands/line/command.h"
#include "commands/line/export_format.h"
#include "commands/line/option_list.h"
#include "export/tables.h"

static const char *const color_names[] = { "auto", "always", "never", NULL };
static const char *const language_names[] = { "mixed", "python", "native", NULL };
static const char *const report_names[] = { "text", "markdown", "json", NULL };
static const char *const page_names[] = { "text", "markdown", "json", "html", NULL };
static const char *const what_names[] = { "peak", "allocated", "unfreed", "temporary", "cpu", NULL };

static const char *const *export_names(void)
{
	static const char *names[TPA_EXPORT_FORMATS_MOST];

	for (size_t i = 0; tpa_export_formats[i].name; i++)
		names[i] = tpa_export_formats[i].name;
	return names;
}

static const char *const *table_names(void)
{
	static const char *names[TPA_TABLES_MOST];

	for (size_t i = 0; tpa_tables[i].name; i++)
		names[i] = tpa_tables[i].name;
	return names;
}

const char *const *tpa_option_words(const struct tpa_command *command, int option)
{
	switch (option) {
	case OPT_COLOR:
		return color_names;
	case OPT_WHAT:
		return what_names;
	case OPT_LANGUAGE:
		return language_names;
	case OPT_FORMAT:
		return command->options & TPA_OPT_PAGE	   ? page_names
		       : command->options & TPA_OPT_REPORT ? report_names
							   : export_names();
	case OPT_TABLE:
		return table_names();
	default:
		return NULL;
	}
}
