/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites put together into the rows of a report: by stack, function, line, module, thread, size, op, step or layer.
 */
#ifndef TPROF_REPORT_ROWS_ROWS_H
#define TPROF_REPORT_ROWS_ROWS_H

#include <regex.h>

#include "model/result/result.h"
#include "report/rows/known_caches.h"
#include "report/rows/line_keys.h"
#include "symbols/symbols.h"

enum tpa_by {
	TPA_BY_STACK,
	TPA_BY_FUNCTION,
	TPA_BY_LINE,
	TPA_BY_MODULE,
	TPA_BY_THREAD,
	TPA_BY_SIZE,
	TPA_BY_OP,
	TPA_BY_STEP,
	TPA_BY_LAYER
};

/* As --by and JSON have it. */
const char *tpa_by_name(enum tpa_by by);

/* What is asked about: which sites count. */
enum tpa_what { TPA_WHAT_PEAK, TPA_WHAT_ALLOCATED, TPA_WHAT_UNFREED, TPA_WHAT_TEMPORARY, TPA_WHAT_CPU };

struct tpa_sums {
	uint64_t allocations, bytes;
	uint64_t peak_bytes, peak_blocks;
	uint64_t live_bytes, live_blocks;
	uint64_t temporary, short_lived;
	uint64_t largest, before_largest;
	struct tpa_variance variance;
};

/* A row. `self` is of the sites whose own line it is; `total` also of those it stands above in the stack. */
struct tpa_row {
	struct tpa_line
		line;	/* by function, line, module: one that shows it; by stack: the own line. location NULL: the
				* stack was not recorded, or the row is of a thread or size */
	uint64_t key;	/* by thread: its number; by size: bytes; by step: its number, or the first of several */
	const char *op; /* by stack and op: the innermost op; by layer: its name; NULL: none */
	uint32_t node;	/* by stack: a stack node that shows it */
	size_t process; /* of that line or node: index in the run */
	size_t sites;	/* put together in it (by self) */
	enum tpa_holder holder;	     /* by stack, of memory that is held: what holds it */
	struct tpa_born born;	     /* by stack: the steps in which what is asked about was born; 0: not known */
	struct tpa_sums self, total; /* but tpa_by_nested(), both are the same */
};

struct tpa_suppressions;
struct tpa_site_stacks;

struct tpa_rows {
	struct tpa_row *rows;
	size_t shown;	      /* of them, the first of all */
	size_t count;	      /* of all, those that are not shown too */
	uint64_t *bytes;      /* by stack: of each of all, those that are asked about. NULL: there are no others */
	struct tpa_sums sums; /* of all rows: what passed the filter and the suppressions */
	struct tpa_sums all;  /* before these */
	struct tpa_sums suppressed; /* of sites that a suppression matched */
	size_t suppressed_sites;
	struct tpa_sums held[TPA_HOLDERS]; /* of the rows with that holder */
	struct tpa_unseen unseen;	   /* of the processes that were sampled, the largest */
};

/* Is some of it? Allocations of a process were sampled. */
static inline bool tpa_rows_estimated(const struct tpa_rows *rows)
{
	return rows->unseen.bytes > 0;
}

struct tpa_rows_options {
	enum tpa_by by;
	enum tpa_what what;
	const regex_t *filter;		       /* NULL: all. Matches functions, files, modules of any frame */
	struct tpa_suppressions *suppressions; /* NULL: none; its counters are advanced */
	const char *sort;		       /* bytes, blocks, allocations, temporary, short-lived, largest, total */
	struct tpa_site_stacks *stacks;	       /* by stack: what is known of them so far */
	uint64_t top;			       /* by stack: so many rows are shown; 0: all */
	bool held_last;			       /* rows that have a holder come behind the others */
};

/*
 * One process at a time is added; the rows of several are then one list. Strings in the rows live as long as the
 * rows and the symbols both do.
 */
struct tpa_rows_builder;
struct tpa_rows_builder *tpa_rows_begin(const struct tpa_rows_options *options);
void tpa_rows_add(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index,
		  struct tpa_symbols *symbols);
struct tpa_rows *tpa_rows_end(struct tpa_rows_builder *builder);
void tpa_rows_free(struct tpa_rows *rows);

/* Whether a row is of something that has no place in the code: a thread, a size, an op, a step, a layer. */
static inline bool tpa_by_key(enum tpa_by by)
{
	return by >= TPA_BY_THREAD;
}

/* Whether rows are within each other, so that their totals are more than their own. */
static inline bool tpa_by_nested(enum tpa_by by)
{
	return by == TPA_BY_FUNCTION || by == TPA_BY_LINE || by == TPA_BY_MODULE || by == TPA_BY_LAYER;
}

/* What lines of the same row have in common. */
static inline enum tpa_key tpa_by_line_key(enum tpa_by by)
{
	return by == TPA_BY_LINE ? TPA_KEY_PLACE : by == TPA_BY_MODULE ? TPA_KEY_MODULE : TPA_KEY_FUNCTION;
}

struct tpa_sums tpa_sums_of(const struct tpa_site *site);

/* Adds up; the largest is the larger one. */
void tpa_sums_add(struct tpa_sums *to, const struct tpa_sums *from);

/* The number that a question is about: bytes and blocks (calls) of `what`. */
uint64_t tpa_sums_bytes(const struct tpa_sums *sums, enum tpa_what what);
/* The largest request: of the peak's, one before the time that is looked at, too. */
uint64_t tpa_sums_largest(const struct tpa_sums *sums, enum tpa_what what);
uint64_t tpa_sums_blocks(const struct tpa_sums *sums, enum tpa_what what);
double tpa_sums_bytes_variance(const struct tpa_sums *sums, enum tpa_what what);
double tpa_sums_blocks_variance(const struct tpa_sums *sums, enum tpa_what what);

/* How many rows hold that share of the peak together, and their bytes; `peak`: all rows, most bytes first. */
size_t tpa_rows_for_share(const struct tpa_rows *peak, double share, uint64_t *bytes);

#endif
