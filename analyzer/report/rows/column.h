/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a table, described once: title, JSON key, unit, and where the value comes from. The text table, the JSON
 * object and the HTML table of a row are made from the same description.
 */
#ifndef TPROF_REPORT_ROWS_COLUMN_H
#define TPROF_REPORT_ROWS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/result/result.h"

enum tpa_unit {
	TPA_UNIT_TEXT,
	TPA_UNIT_NAME,	 /* the name of an op: text shortens it to fit */
	TPA_UNIT_NUMBER, /* an identifier, such as a thread's number; no count */
	TPA_UNIT_COUNT,
	TPA_UNIT_BYTES,
	TPA_UNIT_NET_BYTES, /* signed */
	TPA_UNIT_NS,
	TPA_UNIT_FLOP,
	TPA_UNIT_RATE,	  /* per second, or GFLOP/s */
	TPA_UNIT_MEAN_NS, /* JSON keeps the fraction, also of TPA_UNIT_MEAN_BYTES */
	TPA_UNIT_MEAN_BYTES,
	TPA_UNIT_FACTOR, /* "1.5x" */
	TPA_UNIT_REAL,
	TPA_UNIT_SHARE,	      /* a fraction; 1: all */
	TPA_UNIT_INTERVAL_NS, /* text shows half of its width */
	TPA_UNIT_BOOL,
	TPA_UNIT_OTHER, /* a list or an object, which a function of the JSON code makes */
};

struct tpa_figure {
	bool unknown;	/* text: "-"; JSON: null */
	bool none;	/* text: "-"; JSON: the number */
	bool least;	/* a lower bound: text says "at least" */
	bool about;	/* an estimate without an interval: text has "~" in front */
	int64_t number; /* counts, bytes, nanoseconds, FLOP */
	double real;
	const char *text; /* NULL: unknown. With a number: what tables show instead of it */
	struct tpa_interval interval;
	double variance, unseen; /* of an estimate, see tpa_json_some(); 0: exact */
};

/* What values depend on besides the row. */
struct tpa_row_context {
	const struct tpa_process *process;
	struct tpa_unseen unseen; /* of estimates; zeros: the numbers are exact */
	uint64_t whole;		  /* the total that shares are fractions of */
	const void *more;	  /* further input of some columns, which their declaration describes */
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
	const char *key;   /* in JSON; a column without JSON has any unique name */
	const char *title; /* NULL: not in tables */
	enum tpa_unit unit;
	/* The value is a field of the row, or `get` computes it. */
	size_t at;
	enum tpa_member field;
	bool indirect; /* the field is in the struct that the row's pointer at offset `via` points to */
	size_t via;
	struct tpa_figure (*get)(const void *row, const struct tpa_row_context *context);
	size_t variance; /* offset of the double with the variance of an estimate; 0: exact */
	size_t per;	 /* offset of a uint64_t that divides the value; 0: none */
	bool of_whole;	 /* the value is divided by context->whole */
	bool no_json;
	bool no_zero;	     /* tables show "-" for 0 */
	bool known_above_0;  /* 0 or less means unknown */
	bool exact_only;     /* unknown if the numbers are estimates */
	const char *missing; /* what tables show for a missing value */
	const char *hint;    /* the meaning, shown when the mouse is over the title in HTML */
};

/*
 * Initializers for a column. TPA_MEMBER: `at` and `field` for a member of the row. TPA_VIA: a member of what the
 * row's `pointer` points to. TPA_CHARS: a char array. TPA_COMPUTED: a getter. TPA_ESTIMATE: a member and the member
 * with its variance.
 */
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
/* Begins the definition of a getter for TPA_COMPUTED(); `row` is of that type. */
#define TPA_GETTER(name, type)                                                                                         \
	static struct tpa_figure get_##name(const type *row, const struct tpa_row_context *context);                   \
	static struct tpa_figure name(const void *row, const struct tpa_row_context *context)                          \
	{                                                                                                              \
		return get_##name(row, context);                                                                       \
	}                                                                                                              \
	static struct tpa_figure get_##name(const type *row,                                                           \
					    __attribute__((unused)) const struct tpa_row_context *context)
#define TPA_PER(type, member, divisor) TPA_MEMBER(type, member), .per = offsetof(type, divisor)

/* Computes a column's value of a row. `context` may be NULL if the value does not depend on it. */
struct tpa_figure tpa_column_value(const struct tpa_column *column, const void *row,
				   const struct tpa_row_context *context);

/*
 * Returns the next column of a list of keys separated by blanks, and moves *keys past it; NULL: the list has ended.
 * `columns` ends with a NULL key and must contain all keys. *mark: the character in front of the key that is not a
 * letter; 0: none.
 */
const struct tpa_column *tpa_column_next(const struct tpa_column *columns, const char **keys, char *mark);

#endif
