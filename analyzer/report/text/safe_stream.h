/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream for text that a terminal may show. Names and paths in a trace may hold any bytes. UTF-8 without control
 * characters passes, as do newlines, tabs and, if colours are enabled, the sequences that set them. Other bytes become
 * '?', and so do control characters from U+0080 to U+009F, which some terminals obey, and characters that change the
 * direction of the text after them (U+202A to U+202E, U+2066 to U+2069).
 */
#ifndef TPROF_REPORT_TEXT_SAFE_STREAM_H
#define TPROF_REPORT_TEXT_SAFE_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* Wraps `out`. The caller closes the stream, which closes `out` too unless it is stdout. */
FILE *tpa_plain_open(FILE *out, bool color);

#endif
