/* SPDX-License-Identifier: Apache-2.0 */
/* Reads text files that a user wrote, and copes with whatever else the user may name in place of one. */
#ifndef TPROF_REPORT_ROWS_LINE_FILE_H
#define TPROF_REPORT_ROWS_LINE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#define TPA_LINE_MOST 65536 /* bytes of a line, with newline and NUL; /dev/zero has a single endless line */

/*
 * Reads the next line into `line`, of TPA_LINE_MOST bytes. False: the file has ended, or there is an error, and
 * *wrong says which (else NULL).
 */
bool tpa_line_read(FILE *in, char *line, const char **wrong);

#endif
