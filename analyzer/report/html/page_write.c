/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/page_write.h"

#include <inttypes.h>
#include <string.h>

#include "report/json/json_value.h"

static int put_escaped(const char *text, size_t size, void *out)
{
	for (size_t i = 0; i < size; i++)
		if (strchr("<>&", text[i]) && text[i])
			fprintf(out, "\\u%04x", (unsigned)text[i]);
		else
			putc(text[i], out);
	return 0;
}

void tpa_page_json(const json_t *json, FILE *out)
{
	json_dump_callback(json, put_escaped, out, JSON_ENCODE_ANY | JSON_COMPACT);
}

void tpa_page_text(const char *text, FILE *out)
{
	json_t *json = tpa_json_string(text);

	tpa_page_json(json, out);
	json_decref(json);
}

static void put_number(FILE *out, size_t i, int64_t value)
{
	fprintf(out, i ? ",%" PRId64 : "%" PRId64, value);
}

static void put_column(FILE *out, const struct tpa_page_column *column, const void *list, size_t count, size_t size)
{
	const char *at = (const char *)list + column->at;
	uint32_t narrow;
	int64_t wide;

	fprintf(out, "\"%s\":[", column->name);
	for (size_t i = 0; i < count; i++, at += size) {
		if (column->size == sizeof(narrow)) {
			memcpy(&narrow, at, sizeof(narrow));
			wide = narrow;
		} else
			memcpy(&wide, at, sizeof(wide));
		put_number(out, i, wide);
	}
	putc(']', out);
}

void tpa_page_columns(FILE *out, const struct tpa_page_column *columns, const void *list, size_t count, size_t size)
{
	for (const struct tpa_page_column *column = columns; column->name; column++) {
		if (column != columns)
			putc(',', out);
		put_column(out, column, list ? list : columns, list ? count : 0, size);
	}
}

void tpa_page_list(FILE *out, const char *name, const void *list, size_t count)
{
	const struct tpa_page_column column = { name, 0, sizeof(uint64_t) };

	put_column(out, &column, list, count, sizeof(uint64_t));
}
