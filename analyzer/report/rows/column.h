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

enum tp_unit {
	TP_UNIT_TEXT,
	TP_UNIT_NAME, /* of an op: shortened to fit */
	TP_UNIT_COUNT,
	TP_UNIT_BYTES,
	TP_UNIT_NET_BYTES, /* with a sign */
	TP_UNIT_NS,
	TP_UNIT_FLOP,
	TP_UNIT_RATE,	/* GFLOP/s */
	TP_UNIT_FACTOR, /* "1.5x" */
	TP_UNIT_REAL,
	TP_UNIT_SHARE,	     /* 1: all */
	TP_UNIT_INTERVAL_NS, /* as text half of its width */
	TP_UNIT_BOOL,
	TP_UNIT_OTHER, /* a list or an object: JSON has a function for it */
};

struct tp_figure {
	bool unknown;	/* "-" as text, null in JSON */
	bool none;	/* "-" as text, the number in JSON */
	bool least;	/* not all of it was counted: as text "at least" */
	int64_t number; /* counts, bytes, nanoseconds, FLOP */
	double real;
	const char *text; /* NULL: not known */
	struct tp_interval interval;
	double variance, unseen; /* of an estimate: see tp_json_some(); 0: it is exact */
};

enum tp_member { TP_MEMBER_U64, TP_MEMBER_U32, TP_MEMBER_I64, TP_MEMBER_DOUBLE, TP_MEMBER_TEXT };

struct tp_column {
	const char *key;   /* in JSON, or, of a column that JSON does not have, any name of its own */
	const char *title; /* NULL: no table has it */
	enum tp_unit unit;
	/* The value is a field of the row, or is computed. */
	size_t at;
	enum tp_member field;
	struct tp_figure (*get)(const void *row, const void *context);
	bool no_json;
	const char *missing; /* what tables say where there is no text */
};

/* In place of `at` and `field`. */
#define TP_MEMBER(type, member)                                                                                        \
	.at = offsetof(type, member), .field = _Generic(((type *)0)->member, \
		uint64_t: TP_MEMBER_U64, \
		uint32_t: TP_MEMBER_U32, \
		int64_t: TP_MEMBER_I64, \
		double: TP_MEMBER_DOUBLE, \
		const char *: TP_MEMBER_TEXT, \
		char *: TP_MEMBER_TEXT)
#define TP_COMPUTED(function) .get = (function)

/* `context`: what the row's getters want to know beside the row. */
struct tp_figure tp_column_value(const struct tp_column *column, const void *row, const void *context);

/* The column of that key. The list ends with a NULL key; the key must be in it. */
const struct tp_column *tp_column_find(const struct tp_column *columns, const char *key, size_t length);

#endif
