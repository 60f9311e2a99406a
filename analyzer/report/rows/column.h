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

#include "model/result/result.h"

enum tpa_unit {
	TPA_UNIT_TEXT,
	TPA_UNIT_NAME,	 /* of an op: shortened to fit */
	TPA_UNIT_NUMBER, /* of something: it counts nothing */
	TPA_UNIT_COUNT,
	TPA_UNIT_BYTES,
	TPA_UNIT_NET_BYTES, /* with a sign */
	TPA_UNIT_NS,
	TPA_UNIT_FLOP,
	TPA_UNIT_RATE,	  /* a second; GFLOP/s */
	TPA_UNIT_MEAN_NS, /* JSON has the fractions too */
	TPA_UNIT_MEAN_BYTES,
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
	bool about;	/* of an estimate without its interval: as text "~" */
	int64_t number; /* counts, bytes, nanoseconds, FLOP */
	double real;
	const char *text; /* NULL: not known. Of a number: what tables say instead of it */
	struct tpa_interval interval;
	double variance, unseen; /* of an estimate: see tpa_json_some(); 0: it is exact */
};

/* What values depend on beside the row. */
struct tpa_row_context {
	const struct tpa_process *process;
	struct tpa_unseen unseen; /* of estimates; zeros: numbers are exact */
	uint64_t whole;		  /* what shares are of */
	const void *more;	  /* what some columns need beside: see these */
};

enum tpa_member {
	TPA_MEMBER_U64,
	TPA_MEMBER_U32,
	TPA_MEMBER_I64,
	TPA_MEMBER_DOUBLE,
	TPA_MEMBER_TEXT,
	TPA_MEMBER_CHARS
};

struct tpa_column {
	const char *key;   /* in JSON, or, of a column that JSON does not have, any name of its own */
	const char *title; /* NULL: no table has it */
	enum tpa_unit unit;
	/* The value is a field of the row, or is computed. */
	size_t at;
	enum tpa_member field;
	bool indirect; /* not of the row, but of what its pointer at `via` points to */
	size_t via;
	struct tpa_figure (*get)(const void *row, const struct tpa_row_context *context);
	size_t variance; /* of an estimate: the field with its variance; 0: it is exact */
	size_t per;	 /* the uint64_t that the value, another one, is divided by; 0: it is not */
	bool of_whole;	 /* divided by what the context says */
	bool no_json;
	bool no_zero;	     /* tables have "-" where it is 0 */
	bool known_above_0;  /* 0 or less: it is not known */
	bool exact_only;     /* nor is it of estimates */
	const char *missing; /* what tables say where it is not known */
	const char *hint;    /* what it means: shown where it is pointed at */
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
#define TPA_VIA(type, pointer, member)                                                                                 \
	.indirect = true, .via = offsetof(type, pointer), TPA_MEMBER(__typeof__(*((type *)0)->pointer), member)
#define TPA_CHARS(type, member) .at = offsetof(type, member), .field = TPA_MEMBER_CHARS
#define TPA_COMPUTED(function) .get = (function)
#define TPA_ESTIMATE(type, member, variance_member)                                                                    \
	TPA_MEMBER(type, member), .variance = offsetof(type, variance_member)
/* Begins a getter; its row is of that type. */
#define TPA_GETTER(name, type)                                                                                         \
	static struct tpa_figure get_##name(const type *row, const struct tpa_row_context *context);                   \
	static struct tpa_figure name(const void *row, const struct tpa_row_context *context)                          \
	{                                                                                                              \
		return get_##name(row, context);                                                                       \
	}                                                                                                              \
	static struct tpa_figure get_##name(const type *row,                                                           \
					    __attribute__((unused)) const struct tpa_row_context *context)
#define TPA_PER(type, member, divisor) TPA_MEMBER(type, member), .per = offsetof(type, divisor)

/* `context`: NULL, where no value depends on it. */
struct tpa_figure tpa_column_value(const struct tpa_column *column, const void *row,
				   const struct tpa_row_context *context);

/*
 * The next of several columns, named by their keys with blanks between them; NULL: there is no other. The list of all columns
 * ends with a NULL key; the keys must be in it. *mark: the character in front of the key, if it is no letter; else 0.
 */
const struct tpa_column *tpa_column_next(const struct tpa_column *columns, const char **keys, char *mark);

#endif
