/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values as JSON, and the whole written out. Functions return new references. jansson allocates from base/memory.h
 * (main.c), so that none of them is NULL.
 */
#ifndef TPROF_REPORT_JSON_JSON_VALUE_H
#define TPROF_REPORT_JSON_JSON_VALUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/rows/column.h"

/* Numbers beyond what JSON readers take are the largest one; each byte that is no UTF-8 becomes '?'; NULL: null. */
json_t *tpa_json_number(uint64_t value);
json_t *tpa_json_string(const char *text);

/* Sets a key of an object, and takes the reference to the value. */
static inline void tpa_json_set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

/*
 * Sets `key` and, if it is an estimate, `key`_ci95: [lo, hi], or [0, null] of what no sample met. `unseen`: of bytes or
 * blocks, as `value` is; 0: it is exact.
 */
void tpa_json_some(json_t *json, const char *key, uint64_t value, double variance, double unseen);

/* Sets all columns of a row, in their order. `other`: what a column of TPA_UNIT_OTHER is; NULL: there is none. */
void tpa_json_columns(json_t *json, const struct tpa_column *columns, const void *row,
		      const struct tpa_row_context *context, json_t *(*other)(const void *row, const char *key));
/* Sets some of the columns, named by their keys. */
void tpa_json_keys(json_t *json, const struct tpa_column *columns, const char *keys, const void *row,
		   const struct tpa_row_context *context);

/* null if it is not finite. */
json_t *tpa_json_real(double value);

/* [low, high]; an end that is not known is null, and so is the whole if neither is. */
json_t *tpa_json_interval(struct tpa_interval interval);

/* The same in whole nanoseconds. A duration is not below 0. */
json_t *tpa_json_interval_ns(struct tpa_interval interval);

/* Writes and drops the reference. What can't be written is ferror(out). */
void tpa_json_write(json_t *json, FILE *out);

#endif
