/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream to a terminal, or to what may be shown on one. Programs, and so traces from elsewhere, may have any bytes in their
 * names and paths; here all pass that are UTF-8 and no control characters. Each other byte becomes '?', and so does a control
 * character of U+0080 to U+009F, which some terminals obey too, and one that turns the direction of the text after it (U+202A
 * to U+202E, U+2066 to U+2069). Newlines and tabs pass, and where colours are welcome the sequences that set them.
 */
#ifndef TPROF_REPORT_TEXT_SAFE_STREAM_H
#define TPROF_REPORT_TEXT_SAFE_STREAM_H

#include <stdbool.h>
#include <stdio.h>

/* On top of `out`, to be closed by the caller, which closes `out` too unless it is stdout. */
FILE *tpa_plain_open(FILE *out, bool color);

#endif
