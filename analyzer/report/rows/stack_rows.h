/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows by stack. A program can have hundreds of thousands of them, and a report shows a few. So only the numbers to sort by are
 * summed for all rows; the first rows in that order are then filled in completely.
 */
#ifndef TPROF_REPORT_ROWS_STACK_ROWS_H
#define TPROF_REPORT_ROWS_STACK_ROWS_H

#include "report/rows/rows.h"
#include "report/rows/site_stacks.h"

/* What a site adds to its row. */
struct tpa_stack_amounts {
	uint64_t number; /* what rows are sorted by */
	uint64_t bytes;	 /* second sort key */
	bool largest;	 /* a row's number is the largest of its sites, not the sum */
};

struct tpa_stack_rows;

struct tpa_stack_rows *tpa_stack_rows_new(void);
void tpa_stack_rows_free(struct tpa_stack_rows *rows);

/* Starts a process: later sites belong to it. `index`: its position in the run. `symbols` must outlive `rows`. */
void tpa_stack_rows_process(struct tpa_stack_rows *rows, const struct tpa_process *process, size_t index,
			    struct tpa_symbols *symbols);

/*
 * Adds a site; `site` is its index in the process's sites. `stack` must be an element of the process's list in struct
 * tpa_site_stacks, and outlive `rows`. `held`: stacks with different holders get different rows.
 */
void tpa_stack_rows_add(struct tpa_stack_rows *rows, const struct tpa_site_stack *stack, size_t site, bool held,
			const struct tpa_stack_amounts *amounts);

/*
 * Sorts the rows and fills in the first `top` (0: all). Sets to->rows, to->shown, to->count and to->bytes. `held_last`: rows with a
 * holder come after all others.
 */
void tpa_stack_rows_end(struct tpa_stack_rows *rows, struct tpa_rows *to, size_t top, enum tpa_what what,
			bool held_last);

#endif
