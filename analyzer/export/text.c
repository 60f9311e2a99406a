/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void tpa_export_line_text(const struct tpa_line *line, char *text, size_t size)
{
	const struct tpa_location *location = line->location;
	char name[512];
	int used = snprintf(text, size, "0x%" PRIX64 ": %s", line->address, tpa_line_name(line, name, sizeof(name)));

	if (used < 0 || (size_t)used >= size)
		return;
	if (location && location->file)
		snprintf(text + used, size - (size_t)used, " (%s:%d)", location->file, location->line);
	else if (line->symbol && line->symbol->path[0])
		snprintf(text + used, size - (size_t)used, " (in %s)", line->symbol->path);
}

char *tpa_export_command(const struct tpa_trace *trace)
{
	char *all = tpa_strdup(trace->arg_count ? "" : trace->exe), *valid;

	for (size_t i = 0; i < trace->arg_count; i++) {
		char *longer = tpa_format("%s%s%s", all, i ? " " : "", trace->args[i]);

		free(all);
		all = longer;
	}
	valid = tpa_export_text(all, strlen(all));
	free(all);
	return valid;
}

void tpa_export_valid_text(FILE *out, const char *text)
{
	char *valid = tpa_export_text(text, strlen(text));

	fputs(valid, out);
	free(valid);
}

void tpa_export_json_text(FILE *out, const char *text)
{
	char *valid = tpa_export_text(text, strlen(text));

	fputc('"', out);
	for (const char *c = valid; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc(*c, out);
	}
	fputc('"', out);
	free(valid);
}
