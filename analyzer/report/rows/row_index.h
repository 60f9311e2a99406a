/* SPDX-License-Identifier: Apache-2.0 */
/* Maps sites to the rows of a report, for rows of memory and rows of CPU time. */
#ifndef TPROF_REPORT_ROWS_ROW_INDEX_H
#define TPROF_REPORT_ROWS_ROW_INDEX_H

#include <regex.h>

#include "report/rows/line_keys.h"

struct tpa_row_index {
	struct tpa_keys keys;
	struct tpa_pairs rows;	  /* (key, kind) to row */
	struct tpa_pairs matches; /* location to: does the filter match it? */
	uint32_t *stamps;	  /* for each row: the stamp of the last site added to its total */
	uint32_t stamp;		  /* of the current site */
	size_t count;		  /* rows */
	size_t room, stamp_room;
};

void tpa_row_index_init(struct tpa_row_index *index);
void tpa_row_index_free(struct tpa_row_index *index);

/*
 * Returns the row of (key, kind). `array` is the address of the caller's pointer to the rows, each of `size` bytes; the array
 * grows as needed, and a new row is all zero. The row is valid until the next call.
 */
void *tpa_row_index_at(struct tpa_row_index *index, uint64_t key, uint64_t kind, void *array, size_t size);

/* Starts the next site. */
static inline void tpa_row_index_next(struct tpa_row_index *index)
{
	index->stamp++;
}

/*
 * Is this the first call for the row at `position` since tpa_row_index_next()? A site counts once per row even if its stack
 * recurses.
 */
bool tpa_row_index_once(struct tpa_row_index *index, size_t position);

/* Keys that are equal in all processes: of an op by its name (NULL: no op), and of a line (NULL: no line). */
uint64_t tpa_row_index_op(struct tpa_row_index *index, const char *op);
uint64_t tpa_row_index_line(struct tpa_row_index *index, const struct tpa_line *line, enum tpa_key kind);

/* Like tpa_stack_matches(), but caches the result of each location. Use one filter per index. */
bool tpa_row_index_matches(struct tpa_row_index *index, const struct tpa_stack *stack, const regex_t *filter);

/*
 * Compares rows by the names of their lines, then by their ops; a missing name comes first. A line without a location equals any
 * line.
 */
int tpa_row_names_compare(const struct tpa_line *a, const char *a_op, const struct tpa_line *b, const char *b_op);

#endif
