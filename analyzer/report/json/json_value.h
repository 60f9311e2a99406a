/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values as JSON. Functions return new references. jansson allocates through
 * base/memory.h (see main.c), so results are never NULL.
 */
#ifndef TPROF_REPORT_JSON_JSON_VALUE_H
#define TPROF_REPORT_JSON_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/rows/column.h"

/*
 * Clamps numbers to the largest that JSON readers accept. Replaces bytes of invalid UTF-8 by '?'. A NULL string gives
 * null.
 */
json_t *tpa_json_number(uint64_t value);
json_t *tpa_json_string(const char *text);

/* Sets a key of an object; takes over the reference to the value. */
static inline void tpa_json_set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

/*
 * Sets `key` and, for an estimate, `key`_ci95: [lo, hi], or [0, null] if no sample hit it. `unseen`: in bytes or
 * blocks like `value`; 0: exact.
 */
void tpa_json_some(json_t *json, const char *key, uint64_t value, double variance, double unseen);

/* Sets all columns of a row in order. `other`: the value of a column of TPA_UNIT_OTHER; NULL: none. */
void tpa_json_columns(json_t *json, const struct tpa_column *columns, const void *row,
		      const struct tpa_row_context *context, json_t *(*other)(const void *row, const char *key));
/* Sets some of the columns, named by their keys. */
void tpa_json_keys(json_t *json, const struct tpa_column *columns, const char *keys, const void *row,
		   const struct tpa_row_context *context);

/* null if `value` is not finite */
json_t *tpa_json_real(double value);

/* [low, high]; an unknown end is null, and so is the interval if both are unknown. */
json_t *tpa_json_interval(struct tpa_interval interval);

/* The same in whole nanoseconds, at least 0. */
json_t *tpa_json_interval_ns(struct tpa_interval interval);

#endif
