/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/columns.h"

#include <math.h>
#include <string.h>

#include "report/text/op_cells.h"

/* The next of the keys; NULL: there is none. */
static const struct tpa_column *next(const struct tpa_column *columns, const char **keys, enum tpa_style *style)
{
	static const char marks[] = "*~@";
	static const enum tpa_style styles[] = { TPA_STYLE_NUMBER, TPA_STYLE_DIM, TPA_STYLE_FUNCTION };
	const struct tpa_column *column;
	const char *mark;
	size_t length;

	*keys += strspn(*keys, " ");
	if (!**keys)
		return NULL;
	mark = strchr(marks, **keys);
	*style = mark ? styles[mark - marks] : TPA_STYLE_PLAIN;
	*keys += mark != NULL;
	length = strcspn(*keys, " ");
	column = tpa_column_find(columns, *keys, length);
	*keys += length;
	if (column->unit == TPA_UNIT_NAME)
		*style = TPA_STYLE_FUNCTION;
	return column;
}

struct tpa_table *tpa_columns_begin(const struct tpa_page *page, const struct tpa_column *columns, const char *keys)
{
	const struct tpa_column *column;
	char titles[512];
	enum tpa_style style;
	size_t used = 0;

	while ((column = next(columns, &keys, &style)) && used < sizeof(titles)) {
		bool text = column->unit == TPA_UNIT_TEXT || column->unit == TPA_UNIT_NAME;
		const char *half = column->unit != TPA_UNIT_INTERVAL_NS ? "" : page->utf8 ? "\xc2\xb1" : "+-";

		used += (size_t)snprintf(titles + used, sizeof(titles) - used, "%s%s%s%s", used ? "|" : "",
					 style == TPA_STYLE_FUNCTION ? "*"
					 : text			     ? ""
								     : ">",
					 half, column->title);
	}
	return tpa_table_new(titles);
}

static struct tpa_text figure(const struct tpa_page *page, enum tpa_unit unit, const struct tpa_figure *value)
{
	uint64_t number = (uint64_t)value->number;

	switch (unit) {
	case TPA_UNIT_BYTES:
		return tpa_bytes(number, page->exact);
	case TPA_UNIT_NET_BYTES:
		return tpa_signed_bytes(value->number, page->exact);
	case TPA_UNIT_NS:
		return tpa_time(number);
	case TPA_UNIT_FLOP:
		return tpa_flop_text(number);
	case TPA_UNIT_RATE:
		return tpa_text_of("%.3g", value->real);
	case TPA_UNIT_FACTOR:
		return tpa_text_of("%.3gx", value->real);
	case TPA_UNIT_SHARE:
		return tpa_share(value->real);
	case TPA_UNIT_INTERVAL_NS:
		return tpa_time(tpa_round(fmax((value->interval.high - value->interval.low) / 2, 0)));
	case TPA_UNIT_REAL:
		return tpa_text_of("%.4g", value->real);
	default:
		return tpa_count(number);
	}
}

void tpa_columns_add(struct tpa_table *table, const struct tpa_page *page, const struct tpa_column *columns,
		     const char *keys, const void *row, const void *context)
{
	const struct tpa_column *column;
	enum tpa_style style;

	while ((column = next(columns, &keys, &style))) {
		struct tpa_figure value = tpa_column_value(column, row, context);
		struct tpa_text text = { "-" };

		if (column->unit == TPA_UNIT_NAME) {
			tpa_op_name_cell(table, page, value.text, 0);
		} else if (column->unit == TPA_UNIT_TEXT) {
			tpa_table_add(table, style, value.text ? value.text : column->missing);
		} else {
			if (!value.unknown && !value.none)
				text = figure(page, column->unit, &value);
			tpa_cell(table, style, tpa_flop_least_text(page, text, value.least));
		}
	}
}
