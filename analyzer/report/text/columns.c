/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/columns.h"

#include <inttypes.h>
#include <math.h>

#include "report/text/numbers.h"
#include "report/text/op_cells.h"

static enum tpa_style style_of(const struct tpa_column *column, char mark)
{
	if (column->unit == TPA_UNIT_NAME || mark == '@' || mark == '+')
		return TPA_STYLE_FUNCTION;
	return mark == '*' ? TPA_STYLE_NUMBER : mark == '~' ? TPA_STYLE_DIM : TPA_STYLE_PLAIN;
}

/* The mark that begins a title: see tpa_table_new(). */
static const char *side_of(const struct tpa_column *column, char mark)
{
	if (column->unit == TPA_UNIT_NAME || mark == '@')
		return "*";
	return column->unit == TPA_UNIT_TEXT ? "" : ">";
}

struct tpa_table *tpa_columns_begin(const struct tpa_page *page, const struct tpa_column *columns, const char *keys,
				    const char *rest)
{
	const struct tpa_column *column;
	char titles[512], mark;
	size_t used = 0;

	while ((column = tpa_column_next(columns, &keys, &mark)) && used < sizeof(titles)) {
		const char *half = column->unit != TPA_UNIT_INTERVAL_NS ? "" : page->utf8 ? "\xc2\xb1" : "+-";

		used += (size_t)snprintf(titles + used, sizeof(titles) - used, "%s%s%s%s", used ? "|" : "",
					 side_of(column, mark), half, column->title);
	}
	if (rest && used < sizeof(titles))
		snprintf(titles + used, sizeof(titles) - used, "|%s", rest);
	return tpa_table_new(titles);
}

static struct tpa_text figure(const struct tpa_page *page, enum tpa_unit unit, const struct tpa_figure *value)
{
	const struct tpa_numbers numbers = { page, { value->unseen, value->unseen } };
	uint64_t number = (uint64_t)value->number;

	switch (unit) {
	case TPA_UNIT_NUMBER:
		return tpa_text_of("%" PRIu64, number);
	case TPA_UNIT_BYTES:
	case TPA_UNIT_MEAN_BYTES:
		return tpa_some_bytes(&numbers, number, value->variance);
	case TPA_UNIT_NET_BYTES:
		return tpa_signed_bytes(value->number, page->exact);
	case TPA_UNIT_NS:
	case TPA_UNIT_MEAN_NS:
		return tpa_time(number);
	case TPA_UNIT_FLOP:
		return tpa_text_of(number ? "%.4g" : "-", (double)number);
	case TPA_UNIT_RATE:
		return value->real < 99.95 ? tpa_text_of("%.3g", value->real) : tpa_count(tpa_round(value->real));
	case TPA_UNIT_FACTOR:
		return tpa_text_of("%.3gx", value->real);
	case TPA_UNIT_SHARE:
		return tpa_share(value->real);
	case TPA_UNIT_INTERVAL_NS:
		return tpa_time(tpa_round(fmax((value->interval.high - value->interval.low) / 2, 0)));
	case TPA_UNIT_REAL:
		return tpa_text_of("%.4g", value->real);
	default:
		return tpa_some_count(&numbers, number, value->variance);
	}
}

struct tpa_text tpa_column_text(const struct tpa_page *page, const struct tpa_column *column, const void *row,
				const struct tpa_row_context *context)
{
	struct tpa_figure value = tpa_column_value(column, row, context);
	struct tpa_text text = { "-" };

	if (!value.unknown && !value.none)
		text = figure(page, column->unit, &value);
	if (value.about && !value.unknown && !value.none)
		return tpa_text_of("~%s", text.text);
	return tpa_flop_least_text(page, text, value.least);
}

void tpa_columns_add(struct tpa_table *table, const struct tpa_page *page, const struct tpa_column *columns,
		     const char *keys, const void *row, const struct tpa_row_context *context)
{
	const struct tpa_column *column;
	char mark;

	while ((column = tpa_column_next(columns, &keys, &mark))) {
		struct tpa_figure value = tpa_column_value(column, row, context);
		bool missing = value.unknown || (value.none && column->no_zero);
		const char *text = missing && column->missing ? column->missing : value.text;

		if (column->unit == TPA_UNIT_NAME)
			tpa_op_name_cell(table, page, text ? text : column->missing, 0);
		else if (column->unit == TPA_UNIT_TEXT || text)
			tpa_table_add(table, style_of(column, mark), text ? text : column->missing);
		else
			tpa_cell(table, style_of(column, mark), tpa_column_text(page, column, row, context));
	}
}
