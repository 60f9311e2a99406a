/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows, printed.
 */
#ifndef TPROF_REPORT_TEXT_LISTING_H
#define TPROF_REPORT_TEXT_LISTING_H

#include "report/rows/view.h"
#include "report/text/text.h"

/* In full: each stack under its numbers, or a table. */
void tp_listing_print(const struct tp_listing *context, const struct tp_rows *rows);

/* One line a row: numbers, the own line, its callers as far as they fit. */
void tp_listing_print_short(const struct tp_listing *context, const struct tp_rows *rows);

/* The lines of one stack of a process. */
void tp_listing_print_stack(const struct tp_listing *context, size_t process, uint32_t node);

/* The same in one line: "function (file:line) < caller < caller", as many callers as fit into `columns`. */
void tp_listing_describe(const struct tp_listing *context, size_t process, uint32_t node, int columns, char *text,
			 size_t size);

#endif
