/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "report/rows/estimate.h"

json_t *tpa_json_number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Replaces each byte of invalid UTF-8 by "?". */
static json_t *repaired(const char *text)
{
	size_t length = strlen(text);
	char *copy = tpa_strdup(text);
	json_t *json;

	for (size_t i = 0; i < length;) {
		int bytes = tpa_utf8_bytes((const unsigned char *)copy + i, length - i);

		if (bytes <= 0)
			copy[i] = '?';
		i += bytes > 0 ? (size_t)bytes : 1;
	}
	json = json_string(copy);
	free(copy);
	return json;
}

/* Names in files may hold any bytes; JSON takes only UTF-8. */
json_t *tpa_json_string(const char *text)
{
	json_t *json = text ? json_string(text) : json_null();

	return json || !text ? json : repaired(text);
}

void tpa_json_some(json_t *json, const char *key, uint64_t value, double variance, double unseen)
{
	struct tpa_interval interval = tpa_interval_estimate((double)value, variance, unseen);
	char name[64];

	json_object_set_new(json, key, tpa_json_number(value));
	if (!(unseen > 0))
		return;
	snprintf(name, sizeof(name), "%s_ci95", key);
	json_object_set_new(
		json, name,
		json_pack("[o, o]", tpa_json_number(tpa_round(interval.low)),
			  tpa_estimate_is_open(value) ? json_null() : tpa_json_number(tpa_round(interval.high))));
}

json_t *tpa_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *tpa_json_interval(struct tpa_interval interval)
{
	if (isnan(interval.low) && isnan(interval.high))
		return json_null();
	return json_pack("[o, o]", tpa_json_real(interval.low), tpa_json_real(interval.high));
}

json_t *tpa_json_interval_ns(struct tpa_interval interval)
{
	if (isnan(interval.low))
		return json_null();
	return json_pack("[I, I]", (json_int_t)tpa_round(interval.low), (json_int_t)tpa_round(interval.high));
}

static json_t *value_json(const struct tpa_column *column, const struct tpa_figure *value)
{
	if (value->unknown)
		return json_null();
	switch (column->unit) {
	case TPA_UNIT_TEXT:
	case TPA_UNIT_NAME:
		return tpa_json_string(value->text);
	case TPA_UNIT_NET_BYTES:
		return json_integer(value->number);
	case TPA_UNIT_REAL:
	case TPA_UNIT_SHARE:
	case TPA_UNIT_FACTOR:
	case TPA_UNIT_RATE:
	case TPA_UNIT_MEAN_NS:
	case TPA_UNIT_MEAN_BYTES:
		return tpa_json_real(value->real);
	case TPA_UNIT_INTERVAL_NS:
		return tpa_json_interval_ns(value->interval);
	case TPA_UNIT_BOOL:
		return json_boolean(value->number);
	default:
		return tpa_json_number((uint64_t)value->number);
	}
}

static void set_column(json_t *json, const struct tpa_column *column, const void *row,
		       const struct tpa_row_context *context)
{
	struct tpa_figure value = tpa_column_value(column, row, context);

	if (value.unseen > 0)
		tpa_json_some(json, column->key, (uint64_t)value.number, value.variance, value.unseen);
	else
		json_object_set_new(json, column->key, value_json(column, &value));
}

void tpa_json_columns(json_t *json, const struct tpa_column *columns, const void *row,
		      const struct tpa_row_context *context, json_t *(*other)(const void *row, const char *key))
{
	for (const struct tpa_column *column = columns; column->key; column++) {
		if (column->unit == TPA_UNIT_OTHER)
			json_object_set_new(json, column->key, other(row, column->key));
		else if (!column->no_json)
			set_column(json, column, row, context);
	}
}

void tpa_json_keys(json_t *json, const struct tpa_column *columns, const char *keys, const void *row,
		   const struct tpa_row_context *context)
{
	const struct tpa_column *column;
	char mark;

	while ((column = tpa_column_next(columns, &keys, &mark)))
		set_column(json, column, row, context);
}
