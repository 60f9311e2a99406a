/* SPDX-License-Identifier: Apache-2.0 */
/* For those who make tables: a row that is filled from the left. */
#ifndef TPROF_EXPORT_TABLE_ROW_H
#define TPROF_EXPORT_TABLE_ROW_H

#include "export/tables.h"
#include "report/rows/stack.h"

struct tpa_table_row {
	const struct tpa_table *table;
	tpa_table_sink *sink;
	void *to;
	bool failed; /* no more rows are wanted */
	size_t count;
	struct tpa_cell cells[TPA_TABLE_COLUMNS_MOST];
};

static inline struct tpa_cell *tpa_row_next(struct tpa_table_row *row, enum tpa_cell_kind kind)
{
	struct tpa_cell *cell = &row->cells[row->count++];

	*cell = (struct tpa_cell){ .kind = kind };
	return cell;
}

static inline void tpa_row_none(struct tpa_table_row *row)
{
	tpa_row_next(row, TPA_CELL_NONE);
}

/* Numbers above 2^63 - 1 become that. */
static inline void tpa_row_number(struct tpa_table_row *row, uint64_t number)
{
	tpa_row_next(row, TPA_CELL_INTEGER)->integer = number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

static inline void tpa_row_signed(struct tpa_table_row *row, int64_t number)
{
	tpa_row_next(row, TPA_CELL_INTEGER)->integer = number;
}

static inline void tpa_row_real(struct tpa_table_row *row, double real)
{
	tpa_row_next(row, TPA_CELL_REAL)->real = real;
}

/* NULL: none. */
static inline void tpa_row_text(struct tpa_table_row *row, const char *text)
{
	tpa_row_next(row, text ? TPA_CELL_TEXT : TPA_CELL_NONE)->text = text;
}

/* Three cells: function, file and line. NULL: none. `name`: 256 bytes that live as long as the row. */
void tpa_row_place(struct tpa_table_row *row, const struct tpa_line *line, char *name);

/* Hands the row on and begins the next one. */
void tpa_row_end(struct tpa_table_row *row);

/* The functions of lines [first, last) of a stack, outermost first, with semicolons between them; a heap string. */
char *tpa_stack_frames(const struct tpa_stack *stack, size_t first, size_t last);

/* The tables; see struct tpa_table. */
typedef bool tpa_table_make(struct tpa_export *export, const struct tpa_table *table, tpa_table_sink *sink, void *to);
tpa_table_make tpa_make_sites, tpa_make_ops, tpa_make_steps, tpa_make_timeline; /* of the run */
tpa_table_make tpa_make_calls, tpa_make_samples, tpa_make_events;		/* of the walk */

#endif
