/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows by stack: of a program that has hundreds of thousands of them a few are shown. All are told apart, added up by what
 * they are sorted by, and put in order; the first ones are made whole.
 */
#ifndef TPROF_REPORT_ROWS_STACK_ROWS_H
#define TPROF_REPORT_ROWS_STACK_ROWS_H

#include "report/rows/rows.h"
#include "report/rows/site_stacks.h"

/* What a site adds to its row. */
struct tpa_stack_amounts {
	uint64_t number; /* that rows are sorted by */
	uint64_t bytes;	 /* and by these, where that is equal */
	bool largest;	 /* the number is not added up: the largest counts */
};

struct tpa_stack_rows;

struct tpa_stack_rows *tpa_stack_rows_new(void);
void tpa_stack_rows_free(struct tpa_stack_rows *rows);

/* The sites that come are of this process. */
void tpa_stack_rows_process(struct tpa_stack_rows *rows, const struct tpa_process *process, size_t index,
			    struct tpa_symbols *symbols);

/* `held`: rows are told apart by their holders. */
void tpa_stack_rows_add(struct tpa_stack_rows *rows, const struct tpa_site_stack *stack, size_t site, bool held,
			const struct tpa_stack_amounts *amounts);

/* Puts them in order, and makes the first `top` (0: all) whole: to->rows, to->shown, to->count and to->bytes. */
void tpa_stack_rows_end(struct tpa_stack_rows *rows, struct tpa_rows *to, size_t top, enum tpa_what what,
			bool held_last);

#endif
