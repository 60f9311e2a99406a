/* SPDX-License-Identifier: Apache-2.0 */
/* Which row of a report a site belongs to: what rows of memory and rows of CPU time have in common. */
#ifndef TPROF_REPORT_ROWS_ROW_INDEX_H
#define TPROF_REPORT_ROWS_ROW_INDEX_H

#include <regex.h>

#include "report/rows/line_keys.h"

struct tpa_row_index {
	struct tpa_keys keys;
	struct tpa_pairs rows;	  /* (key, kind) to row */
	struct tpa_pairs matches; /* of a location: does the filter match it */
	uint32_t *stamps;	  /* of a row: the last site that was added to its total */
	uint32_t stamp;
	size_t count; /* rows */
	size_t room, stamp_room;
};

void tpa_row_index_init(struct tpa_row_index *index);
void tpa_row_index_free(struct tpa_row_index *index);

/*
 * The row of (key, kind), an element of `size` bytes in the array that `array` points to: that grows as it must, and a
 * new element is all zero. Valid until the next call.
 */
void *tpa_row_index_at(struct tpa_row_index *index, uint64_t key, uint64_t kind, void *array, size_t size);

/* A new site comes. */
static inline void tpa_row_index_next(struct tpa_row_index *index)
{
	index->stamp++;
}

/* Whether the row of that position is met for the first time since then: a stack counts once, however it recurses. */
bool tpa_row_index_once(struct tpa_row_index *index, size_t position);

/* Keys: the same for an op of that name in any process (NULL: no op), and for the same line (NULL: none). */
uint64_t tpa_row_index_op(struct tpa_row_index *index, const char *op);
uint64_t tpa_row_index_line(struct tpa_row_index *index, const struct tpa_line *line, enum tpa_key kind);

/* tpa_stack_matches(), asked once a location. */
bool tpa_row_index_matches(struct tpa_row_index *index, const struct tpa_stack *stack, const regex_t *filter);

/* Names in order, none first: of a row's lines, then of its op. Lines that are nowhere are equal to any. */
int tpa_row_names_compare(const struct tpa_line *a, const char *a_op, const struct tpa_line *b, const char *b_op);

#endif
