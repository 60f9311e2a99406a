/* SPDX-License-Identifier: Apache-2.0 */
/* Formats stacks as text: in full, or in one line. */
#ifndef TPROF_REPORT_TEXT_STACK_LISTING_H
#define TPROF_REPORT_TEXT_STACK_LISTING_H

#include "report/text/text.h"
#include "symbols/symbols.h"

/* Prints one line per function, innermost first; for a long stack both ends, and Python functions between them. */
void tpa_stack_print(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
		     uint32_t node);

/*
 * "function (file:line) < caller < caller" of the program's own function. Skips native callers up to a Python one,
 * which gets its place. Shows as many callers as fit, always including the first line that the user wrote.
 */
void tpa_stack_describe(const struct tpa_page *page, const struct tpa_trace *trace, struct tpa_symbols *symbols,
			uint32_t node, int columns, char *text, size_t size);

#endif
