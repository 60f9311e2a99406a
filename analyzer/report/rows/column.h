/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a table, described once: what each is called, its key in JSON, its unit, and where its value comes from. The text
 * table, the JSON object and the HTML table of a row are made from the same description.
 */
#ifndef TPROF_REPORT_ROWS_COLUMN_H
#define TPROF_REPORT_ROWS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/stats/stats.h"

enum tpa_unit {
	TPA_UNIT_TEXT,
	TPA_UNIT_NAME, /* of an op: shortened to fit */
	TPA_UNIT_COUNT,
	TPA_UNIT_BYTES,
	TPA_UNIT_NET_BYTES, /* with a sign */
	TPA_UNIT_NS,
	TPA_UNIT_FLOP,
	TPA_UNIT_RATE,	 /* GFLOP/s */
	TPA_UNIT_FACTOR, /* "1.5x" */
	TPA_UNIT_REAL,
	TPA_UNIT_SHARE,	      /* 1: all */
	TPA_UNIT_INTERVAL_NS, /* as text half of its width */
	TPA_UNIT_BOOL,
	TPA_UNIT_OTHER, /* a list or an object: JSON has a function for it */
};

struct tpa_figure {
	bool unknown;	/* "-" as text, null in JSON */
	bool none;	/* "-" as text, the number in JSON */
	bool least;	/* not all of it was counted: as text "at least" */
	int64_t number; /* counts, bytes, nanoseconds, FLOP */
	double real;
	const char *text; /* NULL: not known */
	struct tpa_interval interval;
	double variance, unseen; /* of an estimate: see tpa_json_some(); 0: it is exact */
};

enum tpa_member { TPA_MEMBER_U64, TPA_MEMBER_U32, TPA_MEMBER_I64, TPA_MEMBER_DOUBLE, TPA_MEMBER_TEXT };

struct tpa_column {
	const char *key;   /* in JSON, or, of a column that JSON does not have, any name of its own */
	const char *title; /* NULL: no table has it */
	enum tpa_unit unit;
	/* The value is a field of the row, or is computed. */
	size_t at;
	enum tpa_member field;
	struct tpa_figure (*get)(const void *row, const void *context);
	bool no_json;
	const char *missing; /* what tables say where there is no text */
};

/* In place of `at` and `field`. */
#define TPA_MEMBER(type, member)                                                                                       \
	.at = offsetof(type, member), .field = _Generic(((type *)0)->member, \
		uint64_t: TPA_MEMBER_U64, \
		uint32_t: TPA_MEMBER_U32, \
		int64_t: TPA_MEMBER_I64, \
		double: TPA_MEMBER_DOUBLE, \
		const char *: TPA_MEMBER_TEXT, \
		char *: TPA_MEMBER_TEXT)
#define TPA_COMPUTED(function) .get = (function)

/* `context`: what the row's getters want to know beside the row. */
struct tpa_figure tpa_column_value(const struct tpa_column *column, const void *row, const void *context);

/* The column of that key. The list ends with a NULL key; the key must be in it. */
const struct tpa_column *tpa_column_find(const struct tpa_column *columns, const char *key, size_t length);

#endif
