/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_cells.h"

#include "report/text/name.h"

void tp_op_name_cell(struct tp_table *table, const struct tp_page *page, const char *op, int indent)
{
	char shorter[400], cell[500];

	indent = indent > 60 ? 60 : indent;
	snprintf(cell, sizeof(cell), "%*s%s", indent, "", tp_short_name(page, op, 80, shorter, sizeof(shorter)));
	tp_table_add(table, TP_STYLE_FUNCTION, cell);
}

/* FLOP a nanosecond is GFLOP a second. */
struct tp_text tp_rate_text(uint64_t flop, uint64_t ns)
{
	struct tp_text text = { "-" };

	if (flop && ns)
		snprintf(text.text, sizeof(text.text), "%.3g", (double)flop / (double)ns);
	return text;
}

struct tp_text tp_flop_text(uint64_t flop)
{
	struct tp_text text = { "-" };

	if (flop)
		snprintf(text.text, sizeof(text.text), "%.4g", (double)flop);
	return text;
}

struct tp_text tp_flop_least_text(const struct tp_page *page, struct tp_text amount, bool least)
{
	struct tp_text text = { "?" };

	if (!least)
		return amount;
	if (amount.text[0] != '-')
		snprintf(text.text, sizeof(text.text), "%s%.40s", page->utf8 ? "\xe2\x89\xa5" : ">=", amount.text);
	return text;
}

struct tp_text tp_net_text(const struct tp_page *page, int64_t bytes)
{
	struct tp_text size = tp_bytes(bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes, page->exact), text;

	snprintf(text.text, sizeof(text.text), "%s%.40s", bytes < 0 ? "-" : "", size.text);
	return text;
}
