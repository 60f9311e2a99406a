/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files for reports. */
#ifndef TPROF_REPORT_TEXT_OUTPUT_H
#define TPROF_REPORT_TEXT_OUTPUT_H

#include <stdio.h>

/*
 * Opens a file for writing, but not over a trace: truncating one that is being read, or that a running program writes,
 * would end the process with SIGBUS. Returns NULL with errno set on failure (EEXIST: it is a trace). The caller closes
 * the file.
 */
FILE *tpa_output_open(const char *path);

/* The meaning of errno after tpa_output_open(). */
const char *tpa_output_error(int error);

#endif
