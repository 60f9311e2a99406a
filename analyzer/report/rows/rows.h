/* SPDX-License-Identifier: Apache-2.0 */
/* Groups sites into the rows of a report: by stack, function, line, module, thread, size, op, step or layer. */
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

/* The name in --by and JSON; NULL: no such value. */
const char *tpa_by_name(enum tpa_by by);

/* What the report is about. It selects the sites that count, and the bytes and blocks of each. */
enum tpa_what { TPA_WHAT_PEAK, TPA_WHAT_ALLOCATED, TPA_WHAT_UNFREED, TPA_WHAT_TEMPORARY, TPA_WHAT_CPU };

struct tpa_sums {
	uint64_t allocations, bytes;
	uint64_t peak_bytes, peak_blocks;
	uint64_t live_bytes, live_blocks;
	uint64_t temporary, short_lived;
	uint64_t largest, before_largest;
	struct tpa_variance variance;
};

/* A row. `self` sums the sites whose own line is this row's; `total` also those that have this row further out in the stack. */
struct tpa_row {
	/*
	 * By function, line, module: one line of the row. By stack: the own line. location NULL: the stack was not recorded, or the
	 * rows are by thread, size, op, step or layer.
	 */
	struct tpa_line line;
	uint64_t key;		     /* by thread: its number; by size: bytes; by step: number of the (first) step */
	const char *op;		     /* by stack and op: the innermost op; by layer: the layer; NULL: none */
	uint32_t node;		     /* by stack: one stack node of the row */
	size_t process;		     /* index in the run: the process of `line`, `node` or `key` */
	size_t sites;		     /* number of sites in `self` */
	enum tpa_holder holder;	     /* by stack, of live memory (peak, unfreed): what holds it */
	struct tpa_born born;	     /* by stack: the steps in which the live blocks were allocated; 0: not known */
	struct tpa_sums self, total; /* equal unless tpa_by_nested() */
};

struct tpa_suppressions;
struct tpa_site_stacks;

struct tpa_rows {
	struct tpa_row *rows;
	size_t shown;		    /* number of elements of `rows`: the first of all rows */
	size_t count;		    /* number of all rows, including those that are not shown */
	uint64_t *bytes;	    /* by stack: what tpa_sums_bytes() is for each of all `count` rows; else NULL */
	struct tpa_sums sums;	    /* of all rows: the sites that passed the filter and the suppressions */
	struct tpa_sums all;	    /* of all sites, before filter and suppressions */
	struct tpa_sums suppressed; /* of the sites that a suppression matched */
	size_t suppressed_sites;
	struct tpa_sums held[TPA_HOLDERS]; /* by stack: of the rows with that holder */
	struct tpa_unseen unseen;	   /* the largest of the sampled processes; 0: none was sampled */
};

/* Are the numbers estimates, because the allocations of a process were sampled? */
static inline bool tpa_rows_estimated(const struct tpa_rows *rows)
{
	return rows->unseen.bytes > 0;
}

struct tpa_rows_options {
	enum tpa_by by;
	enum tpa_what what;
	const regex_t *filter; /* NULL: all. Matched against functions, files and modules of every frame */
	struct tpa_suppressions *suppressions; /* NULL: none. Their counters are advanced */
	const char *sort;		/* bytes (or NULL), blocks, allocations, temporary, short-lived, largest */
	struct tpa_site_stacks *stacks; /* by stack: cache of the sites' stacks; required */
	uint64_t top;			/* by stack: how many rows to show; 0: all */
	bool held_last;			/* rows with a holder come after the others, if sorted by bytes */
};

/*
 * Builds rows: begin, add each process of the run, end. The rows of all processes form one list. tpa_rows_end() frees the builder;
 * free its result with tpa_rows_free(). `index` is the position of the process in its run. The rows point into the symbols and the
 * processes, which must outlive them.
 */
struct tpa_rows_builder;
struct tpa_rows_builder *tpa_rows_begin(const struct tpa_rows_options *options);
void tpa_rows_add(struct tpa_rows_builder *builder, const struct tpa_process *process, size_t index,
		  struct tpa_symbols *symbols);
struct tpa_rows *tpa_rows_end(struct tpa_rows_builder *builder);
void tpa_rows_free(struct tpa_rows *rows);

/* Do rows stand for something without a place in the code: a thread, size, op, step or layer? */
static inline bool tpa_by_key(enum tpa_by by)
{
	return by >= TPA_BY_THREAD;
}

/* Do rows nest, so that `total` can exceed `self`? */
static inline bool tpa_by_nested(enum tpa_by by)
{
	return by == TPA_BY_FUNCTION || by == TPA_BY_LINE || by == TPA_BY_MODULE || by == TPA_BY_LAYER;
}

/* The key that lines of the same row share. */
static inline enum tpa_key tpa_by_line_key(enum tpa_by by)
{
	return by == TPA_BY_LINE ? TPA_KEY_PLACE : by == TPA_BY_MODULE ? TPA_KEY_MODULE : TPA_KEY_FUNCTION;
}

/* The sums of one site. */
struct tpa_sums tpa_sums_of(const struct tpa_site *site);

/* Adds `from` to `to`; `largest` and `before_largest` become the larger of the two. */
void tpa_sums_add(struct tpa_sums *to, const struct tpa_sums *from);

/* The bytes, and below the blocks (or calls), that `what` is about. */
uint64_t tpa_sums_bytes(const struct tpa_sums *sums, enum tpa_what what);
/* The largest request, in bytes. For the peak it includes requests before the time range of the report. */
uint64_t tpa_sums_largest(const struct tpa_sums *sums, enum tpa_what what);
uint64_t tpa_sums_blocks(const struct tpa_sums *sums, enum tpa_what what);
double tpa_sums_bytes_variance(const struct tpa_sums *sums, enum tpa_what what);
double tpa_sums_blocks_variance(const struct tpa_sums *sums, enum tpa_what what);

/*
 * The number of first rows that together hold `share` (0 to 1) of the peak; *bytes: how much they hold. `peak`: rows by stack, most
 * bytes first.
 */
size_t tpa_rows_for_share(const struct tpa_rows *peak, double share, uint64_t *bytes);

#endif
