/* SPDX-License-Identifier: Apache-2.0 */
/* A table as comma-separated values (RFC 4180, with newlines as on Unix), and as a JSON object a line. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/formats.h"
#include "export/tables.h"
#include "export/text.h"

static void put_number(FILE *out, const struct tpa_cell *cell)
{
	if (cell->kind == TPA_CELL_INTEGER)
		fprintf(out, "%" PRId64, cell->integer);
	else
		fprintf(out, "%.17g", cell->real);
}

static bool is_number(const struct tpa_cell *cell)
{
	return cell->kind == TPA_CELL_INTEGER || (cell->kind == TPA_CELL_REAL && isfinite(cell->real));
}

static void put_csv_text(FILE *out, const char *text)
{
	char *valid = tpa_export_text(text, strlen(text));
	bool quoted = strpbrk(valid, ",\"") != NULL;

	if (quoted)
		fputc('"', out);
	for (const char *c = valid; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	if (quoted)
		fputc('"', out);
	free(valid);
}

static bool put_csv(void *to, const struct tpa_table *table, const struct tpa_cell *cells)
{
	FILE *out = to;

	for (size_t i = 0; table->columns[i]; i++) {
		if (i)
			fputc(',', out);
		if (is_number(&cells[i]))
			put_number(out, &cells[i]);
		else if (cells[i].kind == TPA_CELL_TEXT)
			put_csv_text(out, cells[i].text);
	}
	fputc('\n', out);
	return !ferror(out);
}

bool tpa_export_csv(struct tpa_export *export)
{
	for (size_t i = 0; export->table->columns[i]; i++)
		fprintf(export->out, "%s%s", i ? "," : "", export->table->columns[i]);
	fputc('\n', export->out);
	return export->table->make(export, export->table, put_csv, export->out);
}

static bool put_ndjson(void *to, const struct tpa_table *table, const struct tpa_cell *cells)
{
	FILE *out = to;

	for (size_t i = 0; table->columns[i]; i++) {
		fprintf(out, "%s\"%s\": ", i ? ", " : "{", table->columns[i]);
		if (is_number(&cells[i]))
			put_number(out, &cells[i]);
		else if (cells[i].kind == TPA_CELL_TEXT)
			tpa_export_json_text(out, cells[i].text);
		else
			fputs("null", out);
	}
	fputs("}\n", out);
	return !ferror(out);
}

bool tpa_export_ndjson(struct tpa_export *export)
{
	return export->table->make(export, export->table, put_ndjson, export->out);
}
