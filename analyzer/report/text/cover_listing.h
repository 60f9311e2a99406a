/* SPDX-License-Identifier: Apache-2.0 */
/* Prints covers: see report/rows/cover.h. */
#ifndef TPROF_REPORT_TEXT_COVER_LISTING_H
#define TPROF_REPORT_TEXT_COVER_LISTING_H

#include "report/rows/cover.h"
#include "report/text/numbers.h"

/*
 * Prints a row for each place: bytes, with blocks if there are any, or CPU time. Prints nothing if there are no rows.
 */
void tpa_cover_print(const struct tpa_page *page, const struct tpa_run *run, const struct tpa_cover *cover, bool cpu);

/* "train.py:2 import torch" in `text`: the place of a row and what it is, without its parts. */
void tpa_cover_row_text(const struct tpa_page *page, const struct tpa_trace *trace, const struct tpa_cover_row *row,
			char *text, size_t size);

/* The row's place in `text`: "train.py:6", "model.c", "libc.so.6", "(import)". */
const char *tpa_cover_place(const struct tpa_trace *trace, const struct tpa_cover_row *row, char *text, size_t size);

#endif
