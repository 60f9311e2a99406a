/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites put together into the rows of a report: by stack, function, line, module, thread, size, op, step or layer.
 */
#ifndef TPROF_REPORT_ROWS_ROWS_H
#define TPROF_REPORT_ROWS_ROWS_H

#include <regex.h>

#include "model/result/result.h"
#include "report/rows/known_caches.h"
#include "report/rows/stack.h"
#include "symbols/symbols.h"

enum tp_by {
	TP_BY_STACK,
	TP_BY_FUNCTION,
	TP_BY_LINE,
	TP_BY_MODULE,
	TP_BY_THREAD,
	TP_BY_SIZE,
	TP_BY_OP,
	TP_BY_STEP,
	TP_BY_LAYER
};

/* As --by and JSON have it. */
const char *tp_by_name(enum tp_by by);

/* What is asked about: which sites count. */
enum tp_what { TP_WHAT_PEAK, TP_WHAT_ALLOCATED, TP_WHAT_UNFREED, TP_WHAT_TEMPORARY, TP_WHAT_CPU };

struct tp_sums {
	uint64_t allocations, bytes;
	uint64_t peak_bytes, peak_blocks;
	uint64_t live_bytes, live_blocks;
	uint64_t temporary, short_lived;
	uint64_t largest, before_largest;
	struct tp_variance variance;
};

/* A row. `self` is of the sites whose own line it is; `total` also of those it stands above in the stack. */
struct tp_row {
	struct tp_line line; /* by function, line, module: one that shows it; by stack: the own line. location NULL: the
				* stack was not recorded, or the row is of a thread or size */
	uint64_t key;	     /* by thread: its number; by size: bytes; by step: its number, or the first of several */
	const char *op;	     /* by stack and op: the innermost op; by layer: its name; NULL: none */
	uint32_t node;	     /* by stack: a stack node that shows it */
	size_t process;	     /* of that line or node: index in the run */
	size_t sites;	     /* put together in it (by self) */
	enum tp_holder holder;	    /* by stack, of memory that is held: what holds it */
	struct tp_born born;	    /* by stack: the steps in which what is asked about was born; 0: not known */
	struct tp_sums self, total; /* but tp_by_nested(), both are the same */
};

struct tp_suppressions;
struct tp_site_stacks;

struct tp_rows {
	struct tp_row *rows;
	size_t shown;		   /* of them, the first of all */
	size_t count;		   /* of all, those that are not shown too */
	uint64_t *bytes;	   /* by stack: of each of all, those that are asked about. NULL: there are no others */
	struct tp_sums sums;	   /* of all rows: what passed the filter and the suppressions */
	struct tp_sums all;	   /* before these */
	struct tp_sums suppressed; /* of sites that a suppression matched */
	size_t suppressed_sites;
	struct tp_sums held[TP_HOLDERS]; /* of the rows with that holder */
	struct tp_unseen unseen;	 /* of the processes that were sampled, the largest */
};

/* Is some of it? Allocations of a process were sampled. */
static inline bool tp_rows_estimated(const struct tp_rows *rows)
{
	return rows->unseen.bytes > 0;
}

struct tp_rows_options {
	enum tp_by by;
	enum tp_what what;
	const regex_t *filter;		      /* NULL: all. Matches functions, files, modules of any frame */
	struct tp_suppressions *suppressions; /* NULL: none; its counters are advanced */
	const char *sort;		      /* bytes, blocks, allocations, temporary, short-lived, largest, total */
	struct tp_site_stacks *stacks;	      /* by stack: what is known of them so far */
	uint64_t top;			      /* by stack: so many rows are shown; 0: all */
	bool held_last;			      /* rows that have a holder come behind the others */
};

/*
 * One process at a time is added; the rows of several are then one list. Strings in the rows live as long as the
 * rows and the symbols both do. false: memory is out.
 */
struct tp_rows_builder;
struct tp_rows_builder *tp_rows_begin(const struct tp_rows_options *options);
bool tp_rows_add(struct tp_rows_builder *builder, const struct tp_process *process, size_t index,
		 struct tp_symbols *symbols);
struct tp_rows *tp_rows_end(struct tp_rows_builder *builder);
void tp_rows_free(struct tp_rows *rows);

/* Whether a row is of something that has no place in the code: a thread, a size, an op, a step, a layer. */
static inline bool tp_by_key(enum tp_by by)
{
	return by >= TP_BY_THREAD;
}

/* Whether rows are within each other, so that their totals are more than their own. */
static inline bool tp_by_nested(enum tp_by by)
{
	return by == TP_BY_FUNCTION || by == TP_BY_LINE || by == TP_BY_MODULE || by == TP_BY_LAYER;
}

struct tp_sums tp_sums_of(const struct tp_site *site);

/* Adds up; the largest is the larger one. */
void tp_sums_add(struct tp_sums *to, const struct tp_sums *from);

/* The number that a question is about: bytes and blocks (calls) of `what`. */
uint64_t tp_sums_bytes(const struct tp_sums *sums, enum tp_what what);
/* The largest request: of the peak's, one before the time that is looked at, too. */
uint64_t tp_sums_largest(const struct tp_sums *sums, enum tp_what what);
uint64_t tp_sums_blocks(const struct tp_sums *sums, enum tp_what what);
double tp_sums_bytes_variance(const struct tp_sums *sums, enum tp_what what);
double tp_sums_blocks_variance(const struct tp_sums *sums, enum tp_what what);

/* How many rows hold that share of the peak together, and their bytes; `peak`: all rows, most bytes first. */
size_t tp_rows_for_share(const struct tp_rows *peak, double share, uint64_t *bytes);

#endif
