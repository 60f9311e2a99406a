/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows. */
#ifndef TPROF_REPORT_TEXT_LISTING_H
#define TPROF_REPORT_TEXT_LISTING_H

#include "report/rows/view.h"
#include "report/text/text.h"

/* Prints rows in full: each stack under its numbers, or a table. */
void tpa_listing_print(const struct tpa_listing *context, const struct tpa_rows *rows);

/* Prints one line per row: numbers, the own line, as many callers as fit. */
void tpa_listing_print_short(const struct tpa_listing *context, const struct tpa_rows *rows);

/* Prints the lines of one stack of a process. */
void tpa_listing_print_stack(const struct tpa_listing *context, size_t process, uint32_t node);

/* The same in one line: "function (file:line) < caller < caller", with as many callers as fit into `columns`. */
void tpa_listing_describe(const struct tpa_listing *context, size_t process, uint32_t node, int columns, char *text,
			  size_t size);

#endif
