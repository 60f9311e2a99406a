/* SPDX-License-Identifier: Apache-2.0 */
/* Files of lines that a user wrote, and whatever else may be named in place of one. */
#ifndef TPROF_REPORT_ROWS_LINE_FILE_H
#define TPROF_REPORT_ROWS_LINE_FILE_H

#include <stdbool.h>
#include <stdio.h>

#define TPA_LINE_MOST 65536 /* bytes of a line, with its end: /dev/zero has but one */

/* The next line into `line`, of TPA_LINE_MOST bytes; false: there is none, for a reason if *wrong is not NULL. */
bool tpa_line_read(FILE *in, char *line, const char **wrong);

#endif
