/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds the memory, or takes the CPU time, in a few rows: the places in the user's own code where most of it comes together.
 *
 * The stacks are put together as a tree of the user's own lines, callers first; a stack without such a line keeps all its functions.
 * A row is a subtree less the rows inside of it, so that no byte is in two rows. Rows are the deepest subtrees that hold a certain
 * share, the smallest share that gives no more rows than asked for (hierarchical heavy hitters: Cormode et al., "Finding
 * hierarchical heavy hitters in streaming data", 2008). A line that would be several rows, one for each caller, is a helper: its
 * callers are the rows.
 */
#ifndef TPROF_REPORT_ROWS_COVER_H
#define TPROF_REPORT_ROWS_COVER_H

#include "model/result/result.h"
#include "report/rows/stack.h"

/* What a row is for. All but the program's own work is usually of no interest, and comes last. */
enum tpa_about {
	TPA_ABOUT_PROGRAM,
	TPA_ABOUT_IMPORT,   /* import of Python's installed modules */
	TPA_ABOUT_START,    /* start of the interpreter, or of libraries before main() */
	TPA_ABOUT_REGISTRY, /* a library's cache or registry, see report/rows/known_caches.h */
	TPA_ABOUT_OTHER,    /* no line of the user's code is in the stack */
	TPA_ABOUTS,
};

/* "program", "import", ...: as JSON has it. */
const char *tpa_about_name(enum tpa_about about);

/* What a part of a row was allocated (or run) by: an op, or a line of a library. */
struct tpa_cover_part {
	const char *name;
	uint64_t amount; /* bytes or ns */
};

#define TPA_COVER_PARTS 2

struct tpa_cover_row {
	struct tpa_line line; /* location NULL: there is none, and `group` says what it is */
	const char *group;    /* "Python's start" */
	bool function;	      /* several lines of the line's function together */
	bool rest;	      /* other rows are of lines in it, and it is what they leave */
	enum tpa_about about;
	size_t process;				      /* index in the run */
	uint64_t amount, blocks;		      /* bytes and blocks; ns and samples */
	struct tpa_cover_part parts[TPA_COVER_PARTS]; /* those with at least a quarter of the row */
	size_t part_count;
};

struct tpa_cover {
	struct tpa_cover_row *rows; /* the program's first, then by amount */
	size_t count;
	uint64_t amount, blocks; /* of all */
	uint64_t covered;	 /* in rows */
	struct tpa_cover_impl *impl;
};

/* A cover is added to, process by process, then finished. Its texts live as long as the cover and the processes' symbols. */
struct tpa_cover *tpa_cover_new(void);
void tpa_cover_free(struct tpa_cover *cover);

/* What was alive at the process's peak; stacks that `filter` (NULL: all) matches. */
void tpa_cover_add_peak(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
			struct tpa_symbols *symbols, const regex_t *filter);

/* Free memory that blocks kept at that moment, by the blocks' stacks. */
void tpa_cover_add_holes(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
			 struct tpa_symbols *symbols, const struct tpa_hole_reading *reading);

/* CPU time, by the innermost of the user's own functions and lines alone. */
void tpa_cover_add_cpu(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
		       struct tpa_symbols *symbols, const regex_t *filter);

/* Chooses at most `most` rows; 0: all that hold at least a thousandth. */
void tpa_cover_finish(struct tpa_cover *cover, size_t most);

/* Are the rows lines, or functions? TPA_BY_LINE or TPA_BY_FUNCTION, whichever most of the amount is in. */
bool tpa_cover_is_by_line(const struct tpa_cover *cover);

#endif
