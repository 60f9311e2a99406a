/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a line of source. */
#ifndef TPROF_REPORT_ROWS_SOURCE_TEXT_H
#define TPROF_REPORT_ROWS_SOURCE_TEXT_H

#include "report/rows/stack.h"

/*
 * The line's text without the blanks around it, in `text`. False, and "": its file can't be read here, or was changed after the
 * run had started, so that the line may be another one.
 */
bool tpa_source_text(const struct tpa_trace *trace, const struct tpa_line *line, char *text, size_t size);

#endif
