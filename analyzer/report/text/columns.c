/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/columns.h"

#include <math.h>
#include <string.h>

#include "report/text/op_cells.h"

/* The next of the keys; NULL: there is none. */
static const struct tp_column *next(const struct tp_column *columns, const char **keys, enum tp_style *style)
{
	static const char marks[] = "*~@";
	static const enum tp_style styles[] = { TP_STYLE_NUMBER, TP_STYLE_DIM, TP_STYLE_FUNCTION };
	const struct tp_column *column;
	const char *mark;
	size_t length;

	*keys += strspn(*keys, " ");
	if (!**keys)
		return NULL;
	mark = strchr(marks, **keys);
	*style = mark ? styles[mark - marks] : TP_STYLE_PLAIN;
	*keys += mark != NULL;
	length = strcspn(*keys, " ");
	column = tp_column_find(columns, *keys, length);
	*keys += length;
	if (column->unit == TP_UNIT_NAME)
		*style = TP_STYLE_FUNCTION;
	return column;
}

struct tp_table *tp_columns_begin(const struct tp_page *page, const struct tp_column *columns, const char *keys)
{
	const struct tp_column *column;
	char titles[512];
	enum tp_style style;
	size_t used = 0;

	while ((column = next(columns, &keys, &style)) && used < sizeof(titles)) {
		bool text = column->unit == TP_UNIT_TEXT || column->unit == TP_UNIT_NAME;
		const char *half = column->unit != TP_UNIT_INTERVAL_NS ? "" : page->utf8 ? "\xc2\xb1" : "+-";

		used += (size_t)snprintf(titles + used, sizeof(titles) - used, "%s%s%s%s", used ? "|" : "",
					 style == TP_STYLE_FUNCTION ? "*"
					 : text			    ? ""
								    : ">",
					 half, column->title);
	}
	return tp_table_new(titles);
}

static struct tp_text format(const char *pattern, double real)
{
	struct tp_text text;

	snprintf(text.text, sizeof(text.text), pattern, real);
	return text;
}

static struct tp_text figure(const struct tp_page *page, enum tp_unit unit, const struct tp_figure *value)
{
	uint64_t number = (uint64_t)value->number;

	switch (unit) {
	case TP_UNIT_BYTES:
		return tp_bytes(number, page->exact);
	case TP_UNIT_NET_BYTES:
		return tp_net_text(page, value->number);
	case TP_UNIT_NS:
		return tp_time(number);
	case TP_UNIT_FLOP:
		return tp_flop_text(number);
	case TP_UNIT_RATE:
		return format("%.3g", value->real);
	case TP_UNIT_FACTOR:
		return format("%.3gx", value->real);
	case TP_UNIT_SHARE:
		return value->real > 0 && value->real < 0.0005 ? (struct tp_text){ "<0.1%" }
							       : format("%.1f%%", 100 * value->real);
	case TP_UNIT_INTERVAL_NS:
		return tp_time(tp_round(fmax((value->interval.high - value->interval.low) / 2, 0)));
	case TP_UNIT_REAL:
		return format("%.4g", value->real);
	default:
		return tp_count(number);
	}
}

void tp_columns_add(struct tp_table *table, const struct tp_page *page, const struct tp_column *columns,
		    const char *keys, const void *row, const void *context)
{
	const struct tp_column *column;
	enum tp_style style;

	while ((column = next(columns, &keys, &style))) {
		struct tp_figure value = tp_column_value(column, row, context);
		struct tp_text text = { "-" };

		if (column->unit == TP_UNIT_NAME) {
			tp_op_name_cell(table, page, value.text, 0);
		} else if (column->unit == TP_UNIT_TEXT) {
			tp_table_add(table, style, value.text ? value.text : column->missing);
		} else {
			if (!value.unknown && !value.none)
				text = figure(page, column->unit, &value);
			tp_cell(table, style, tp_flop_least_text(page, text, value.least));
		}
	}
}
