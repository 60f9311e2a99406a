/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/column.h"

#include <assert.h>
#include <string.h>

static struct tp_figure real_value(double real)
{
	return (struct tp_figure){ .real = real, .number = (int64_t)tp_round(real) };
}

struct tp_figure tp_column_value(const struct tp_column *column, const void *row, const void *context)
{
	const void *at = (const char *)row + column->at;

	if (column->get)
		return column->get(row, context);
	switch (column->field) {
	case TP_MEMBER_U32:
		return (struct tp_figure){ .number = *(const uint32_t *)at };
	case TP_MEMBER_DOUBLE:
		return real_value(*(const double *)at);
	case TP_MEMBER_TEXT:
		return (struct tp_figure){ .text = *(const char *const *)at };
	default:
		return (struct tp_figure){ .number = *(const int64_t *)at };
	}
}

const struct tp_column *tp_column_find(const struct tp_column *columns, const char *key, size_t length)
{
	while (columns->key && (strncmp(columns->key, key, length) != 0 || columns->key[length]))
		columns++;
	assert(columns->key);
	return columns;
}
