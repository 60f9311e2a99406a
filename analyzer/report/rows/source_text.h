/* SPDX-License-Identifier: Apache-2.0 */
/* Source text of a line. */
#ifndef TPROF_REPORT_ROWS_SOURCE_TEXT_H
#define TPROF_REPORT_ROWS_SOURCE_TEXT_H

#include "report/rows/stack.h"

/*
 * Copies the line's source text, trimmed, to `text`; cut at `size` bytes, always terminated. False, and "": the line is blank, or
 * its file can't be read or was modified after the run started, so that the line may be a different one.
 */
bool tpa_source_text(const struct tpa_trace *trace, const struct tpa_line *line, char *text, size_t size);

#endif
