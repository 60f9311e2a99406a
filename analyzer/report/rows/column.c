/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/column.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

static struct tpa_figure real_value(double real)
{
	return (struct tpa_figure){ .real = real, .number = (int64_t)tpa_round(real) };
}

static struct tpa_figure member_value(const struct tpa_column *column, const void *row)
{
	const void *at;

	if (column->indirect)
		row = *(const void *const *)(const void *)((const char *)row + column->via);
	at = (const char *)row + column->at;
	switch (column->field) {
	case TPA_MEMBER_U32:
		return (struct tpa_figure){ .number = *(const uint32_t *)at };
	case TPA_MEMBER_DOUBLE:
		return real_value(*(const double *)at);
	case TPA_MEMBER_TEXT:
		return (struct tpa_figure){ .text = *(const char *const *)at };
	case TPA_MEMBER_CHARS:
		return (struct tpa_figure){ .text = at };
	default:
		return (struct tpa_figure){ .number = *(const int64_t *)at };
	}
}

static struct tpa_figure divided(const struct tpa_column *column, const void *row)
{
	int64_t value = member_value(column, row).number;
	uint64_t by = *(const uint64_t *)(const void *)((const char *)row + column->per);

	if (!by)
		return (struct tpa_figure){ .none = true };
	return (struct tpa_figure){ .number = value / (int64_t)by, .real = (double)value / (double)by };
}

static bool is_memory(enum tpa_unit unit)
{
	return unit == TPA_UNIT_COUNT || unit == TPA_UNIT_BYTES || unit == TPA_UNIT_MEAN_BYTES ||
	       unit == TPA_UNIT_SHARE;
}

struct tpa_figure tpa_column_value(const struct tpa_column *column, const void *row,
				   const struct tpa_row_context *context)
{
	struct tpa_figure value = column->get	? column->get(row, context)
				  : column->per ? divided(column, row)
						: member_value(column, row);

	value.unknown |= column->known_above_0 && value.number <= 0 && !(value.real > 0);
	value.none |= column->no_zero && !value.number && !(fabs(value.real) > 0);
	if (column->of_whole)
		value = (struct tpa_figure){ .none = !context->whole,
					     .real = (double)value.number / (double)context->whole };
	if (!context || !(context->unseen.bytes > 0))
		return value;
	value.about |= !column->variance && is_memory(column->unit);
	value.unknown |= column->exact_only;
	if (column->variance) {
		value.variance = *(const double *)(const void *)((const char *)row + column->variance);
		value.unseen = column->unit == TPA_UNIT_BYTES ? context->unseen.bytes : context->unseen.blocks;
	}
	return value;
}

const struct tpa_column *tpa_column_next(const struct tpa_column *columns, const char **keys, char *mark)
{
	size_t length;

	*keys += strspn(*keys, " ");
	*mark = 0;
	if (**keys && !isalpha((unsigned char)**keys))
		*mark = *(*keys)++;
	length = strcspn(*keys, " :");
	if (!length)
		return NULL;
	while (columns->key && (strncmp(columns->key, *keys, length) != 0 || columns->key[length]))
		columns++;
	assert(columns->key);
	*keys += length;
	return columns;
}
