/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as text: in full, or in one line. */
#ifndef TPROF_REPORT_TEXT_STACK_LISTING_H
#define TPROF_REPORT_TEXT_STACK_LISTING_H

#include "report/text/text.h"
#include "symbols/symbols.h"

/* A line for each function, innermost first; of a long stack both ends, and Python's functions between them. */
void tpa_stack_print(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
		     uint32_t node);

/*
 * "function (file:line) < caller < caller" of the program's own function. Of native callers up to one of Python's only
 * that one, with its place. As many as find room in so many columns; the first line that the user wrote is one of them.
 */
void tpa_stack_describe(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
			uint32_t node, int columns, char *text, size_t size);

#endif
