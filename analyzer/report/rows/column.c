/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/column.h"

#include <assert.h>
#include <string.h>

static struct tpa_figure real_value(double real)
{
	return (struct tpa_figure){ .real = real, .number = (int64_t)tpa_round(real) };
}

struct tpa_figure tpa_column_value(const struct tpa_column *column, const void *row, const void *context)
{
	const void *at = (const char *)row + column->at;

	if (column->get)
		return column->get(row, context);
	switch (column->field) {
	case TPA_MEMBER_U32:
		return (struct tpa_figure){ .number = *(const uint32_t *)at };
	case TPA_MEMBER_DOUBLE:
		return real_value(*(const double *)at);
	case TPA_MEMBER_TEXT:
		return (struct tpa_figure){ .text = *(const char *const *)at };
	default:
		return (struct tpa_figure){ .number = *(const int64_t *)at };
	}
}

const struct tpa_column *tpa_column_find(const struct tpa_column *columns, const char *key, size_t length)
{
	while (columns->key && (strncmp(columns->key, key, length) != 0 || columns->key[length]))
		columns++;
	assert(columns->key);
	return columns;
}
