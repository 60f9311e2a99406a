/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_value.h"

#include <math.h>
#include <string.h>

json_t *tp_json_number(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Names in files may be any bytes; JSON takes only UTF-8. */
json_t *tp_json_string(const char *text)
{
	json_t *json;
	char copy[4096];
	size_t length;

	if (!text)
		return json_null();
	json = json_string(text);
	if (json)
		return json;
	length = strnlen(text, sizeof(copy) - 1);
	for (size_t i = 0; i < length; i++)
		copy[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
	copy[length] = '\0';
	return json_string(copy);
}

void tp_json_fields(json_t *json, const struct tp_json_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_object_set_new(json, fields[i].key, tp_json_number(fields[i].value));
}

json_t *tp_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *tp_json_interval(struct tp_interval interval)
{
	if (isnan(interval.low) && isnan(interval.high))
		return json_null();
	return json_pack("[o, o]", tp_json_real(interval.low), tp_json_real(interval.high));
}

json_t *tp_json_interval_ns(struct tp_interval interval)
{
	if (isnan(interval.low))
		return json_null();
	return json_pack("[I, I]", (json_int_t)tp_round(interval.low), (json_int_t)tp_round(interval.high));
}

bool tp_json_write(json_t *json, FILE *out)
{
	bool good = json && json_dumpf(json, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF;

	json_decref(json);
	return good || ferror(out);
}
