/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/op_cells.h"

#include "report/text/name.h"

void tpa_op_name_cell(struct tpa_table *table, const struct tpa_page *page, const char *op, int indent)
{
	char shorter[400], cell[500];

	indent = indent > 60 ? 60 : indent;
	snprintf(cell, sizeof(cell), "%*s%s", indent, "", tpa_short_name(page, op, 80, shorter, sizeof(shorter)));
	tpa_table_add(table, TPA_STYLE_FUNCTION, cell);
}

struct tpa_text tpa_flop_least_text(const struct tpa_page *page, struct tpa_text amount, bool least)
{
	if (!least)
		return amount;
	if (amount.text[0] == '-')
		return (struct tpa_text){ "?" };
	return tpa_text_of("%s%s", page->utf8 ? "\xe2\x89\xa5" : ">=", amount.text);
}
