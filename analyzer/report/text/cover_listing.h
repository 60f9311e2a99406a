/* SPDX-License-Identifier: Apache-2.0 */
/* Covers, printed: see report/rows/cover.h. */
#ifndef TPROF_REPORT_TEXT_COVER_LISTING_H
#define TPROF_REPORT_TEXT_COVER_LISTING_H

#include "report/rows/cover.h"
#include "report/text/numbers.h"

/* A row for each place; of bytes, with blocks if there are any, or of CPU time. Nothing if there are no rows. */
void tpa_cover_print(const struct tpa_page *page, const struct tpa_run *run, const struct tpa_cover *cover, bool cpu);

/* "train.py:6", "model.c", "libc.so.6", "(import)": where a row is. In `text`. */
const char *tpa_cover_place(const struct tpa_trace *trace, const struct tpa_cover_row *row, char *text, size_t size);

#endif
