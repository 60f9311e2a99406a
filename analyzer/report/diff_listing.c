/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff_listing.h"

#include <string.h>

#include "model/stats.h"
#include "report/name.h"

enum form { FORM_TEXT, FORM_BYTES, FORM_COUNT, FORM_TIME, FORM_SHARE, FORM_RATIO, FORM_P };

struct column {
	const char *key;
	enum form form;
};

static void cell(struct tp_table *table, const struct tp_page *page, const json_t *row, const struct column *column)
{
	const json_t *json = json_object_get(row, column->key);
	double value = json_number_value(json);
	struct tp_text text = { "-" };
	char name[400];

	if (column->form == FORM_TEXT) {
		tp_table_add(table, TP_STYLE_PLAIN,
			     tp_short_name(page, json_is_string(json) ? json_string_value(json) : "-", 60, name,
					   sizeof(name)));
		return;
	}
	if (column->form == FORM_BYTES)
		text = tp_bytes(tp_round(value), page->exact);
	else if (column->form == FORM_COUNT)
		text = tp_count(tp_round(value));
	else if (column->form == FORM_TIME)
		text = tp_time(tp_round(value));
	else if (column->form == FORM_SHARE)
		snprintf(text.text, sizeof(text.text), "%.1f%%", 100 * value);
	else if (json_is_number(json))
		snprintf(text.text, sizeof(text.text), column->form == FORM_P ? "%.2g" : "%.3fx", value);
	tp_table_add(table, TP_STYLE_NUMBER, text.text);
}

static void list(const struct tp_page *page, const json_t *rows, const char *titles, const struct column *columns,
		 size_t count)
{
	struct tp_table *table = tp_table_new(titles);
	json_t *row;
	size_t i;

	if (!json_array_size(rows))
		fputs("  nothing differs\n", page->out);
	json_array_foreach(rows, i, row) for (size_t c = 0; table && c < count; c++)
		cell(table, page, row, &columns[c]);
	if (table && json_array_size(rows))
		tp_table_print(table, page, 2);
	tp_table_free(table);
}
#define LIST(page, rows, titles, columns) list(page, rows, titles, columns, sizeof(columns) / sizeof((columns)[0]))

static void totals(const struct tp_page *page, const json_t *rows)
{
	struct tp_table *table = tp_table_new("total|>old|>new|>new / old|is");
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *unit = json_string_value(json_object_get(row, "unit"));
		enum form form = unit && strcmp(unit, "bytes") == 0 ? FORM_BYTES : FORM_COUNT;
		const struct column columns[] = { { "name", FORM_TEXT },
						  { "old", form },
						  { "new", form },
						  { "ratio", FORM_RATIO },
						  { "verdict", FORM_TEXT } };

		for (size_t c = 0; table && c < sizeof(columns) / sizeof(columns[0]); c++)
			cell(table, page, row, &columns[c]);
	}
	if (table)
		tp_table_print(table, page, 2);
	tp_table_free(table);
}

void tp_diff_print(const struct tp_page *page, const json_t *json)
{
	static const struct column ops[] = { { "name", FORM_TEXT },	  { "old_calls", FORM_COUNT },
					     { "new_calls", FORM_COUNT }, { "old_p50_ns", FORM_TIME },
					     { "new_p50_ns", FORM_TIME }, { "speedup", FORM_RATIO },
					     { "p_corrected", FORM_P },	  { "verdict", FORM_TEXT } };
	static const struct column cpu[] = { { "name", FORM_TEXT },
					     { "old_share", FORM_SHARE },
					     { "new_share", FORM_SHARE },
					     { "p_corrected", FORM_P },
					     { "verdict", FORM_TEXT } };
	static const struct column memory[] = {
		{ "old_bytes", FORM_BYTES }, { "new_bytes", FORM_BYTES }, { "ratio", FORM_RATIO }, { "name", FORM_TEXT }
	};

	totals(page, json_object_get(json, "totals"));
	tp_headline(page, "Ops: time of a call, median; p by the rank test over all calls (Mann-Whitney, Holm)");
	LIST(page, json_object_get(json, "ops"), "op|>old calls|>new calls|>old|>new|>speed-up|>p|is", ops);
	tp_headline(page, "CPU: share of the samples; p by the test of two proportions (Holm)");
	LIST(page, json_object_get(json, "cpu"), "function|>old|>new|>p|is", cpu);
	tp_headline(page, "Memory at the peak, where it differs");
	LIST(page, json_object_get(json, "peak"), ">old|>new|>new / old|where", memory);
	tp_headline(page, "Unfreed memory, where it differs");
	LIST(page, json_object_get(json, "unfreed"), ">old|>new|>new / old|where", memory);
	tp_headline(page, "Allocated, where it differs");
	LIST(page, json_object_get(json, "allocated"), ">old|>new|>new / old|where", memory);
	tp_print(page, TP_STYLE_DIM,
		 "\n  noise: chance alone would do that. What the machine did differently in the two runs is not "
		 "chance.\n");
}
