/* SPDX-License-Identifier: Apache-2.0 */
/* Files that reports are written to. */
#ifndef TPROF_REPORT_TEXT_OUTPUT_H
#define TPROF_REPORT_TEXT_OUTPUT_H

#include <stdio.h>

/*
 * Opens it for writing. Not over a trace: it may be the one that is read, and of a program that runs, which would end by a
 * SIGBUS. NULL: it can't be written, and errno says why (EEXIST: it is a trace). To be closed by the caller.
 */
FILE *tpa_output_open(const char *path);

/* What errno means after that. */
const char *tpa_output_error(int error);

#endif
