/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds the memory, or takes the CPU time, in a few rows: the places in the user's own code where most of it
 * comes together.
 *
 * The stacks form a tree of the user's own lines, callers first; a stack without such a line keeps all its functions.
 * A row is a subtree without the rows inside it, so that no byte is in two rows. Rows are the deepest subtrees that
 * hold at least a certain share of the total: the smallest share that gives no more rows than asked for (hierarchical
 * heavy hitters: Cormode et al., "Finding hierarchical heavy hitters in streaming data", 2008). A line that would be
 * several rows, one for each caller, is a helper: its callers are the rows instead.
 */
#ifndef TPROF_REPORT_ROWS_COVER_H
#define TPROF_REPORT_ROWS_COVER_H

#include "model/result/result.h"
#include "report/rows/stack.h"

/* The purpose of a row's memory or time. All but the program's own work is usually of no interest and comes last. */
enum tpa_about {
	TPA_ABOUT_PROGRAM,
	TPA_ABOUT_IMPORT,   /* import of Python's installed modules */
	TPA_ABOUT_START,    /* start of the interpreter, or of libraries before main() */
	TPA_ABOUT_REGISTRY, /* a library's cache or registry, see report/rows/known_caches.h */
	TPA_ABOUT_OTHER,    /* no line of the user's code is in the stack */
	TPA_ABOUTS,
};

/* The name in JSON: "program", "import", ... */
const char *tpa_about_name(enum tpa_about about);

/* What allocated (or ran) a part of a row: an op, or a line of a library. */
struct tpa_cover_part {
	const char *name;
	uint64_t amount; /* bytes or ns */
};

#define TPA_COVER_PARTS 2

struct tpa_cover_row {
	struct tpa_line line; /* location NULL: the row is the group `group` */
	const char *group;    /* NULL, or such as "Python's start" */
	bool function;	      /* the row is the whole function of `line`, not one line */
	bool rest;	      /* other rows lie inside this one; it is what they leave */
	enum tpa_about about;
	size_t process;				      /* index in the run */
	uint64_t amount, blocks;		      /* bytes and blocks, or ns and samples */
	struct tpa_cover_part parts[TPA_COVER_PARTS]; /* each at least a quarter of the row, largest first */
	size_t part_count;
};

struct tpa_cover {
	struct tpa_cover_row *rows; /* the program's and TPA_ABOUT_OTHER first, each by amount */
	size_t count;
	uint64_t amount, blocks; /* of everything added */
	uint64_t covered;	 /* the part of `amount` that is in rows */
	struct tpa_cover_impl *impl;
};

/*
 * Create a cover, add to it process by process, then finish it. Its texts live as long as the cover and the symbols
 * of the processes. `index`: the process's index in the run.
 */
struct tpa_cover *tpa_cover_new(void);
void tpa_cover_free(struct tpa_cover *cover);

/* Adds what was live at the process's peak, of the stacks that match `filter` (NULL: all). */
void tpa_cover_add_peak(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
			struct tpa_symbols *symbols, const regex_t *filter);

/* Adds the free memory that blocks kept from being used at the time of `reading`, by the blocks' stacks. */
void tpa_cover_add_holes(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
			 struct tpa_symbols *symbols, const struct tpa_hole_reading *reading);

/* Adds CPU time, by the innermost of the user's own functions and, for Python, its line. */
void tpa_cover_add_cpu(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
		       struct tpa_symbols *symbols, const regex_t *filter);

/* Chooses at most `most` rows, each with at least 1% of the total; 0: all rows with at least 0.1%. */
void tpa_cover_finish(struct tpa_cover *cover, size_t most);

/* Whether the cover reads better by line than by function: at least half of its amount is in rows that are lines. */
bool tpa_cover_is_by_line(const struct tpa_cover *cover);

#endif
