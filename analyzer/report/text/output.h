/* SPDX-License-Identifier: Apache-2.0 */
/* Files for reports. A reader never finds half of one, and a failure leaves the file that was there before as it was. */
#ifndef TPROF_REPORT_TEXT_OUTPUT_H
#define TPROF_REPORT_TEXT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct tpa_output {
	const char *path; /* as given to tpa_output_open(), not copied */
	char *draft; /* the file that is written, beside `path`; NULL: `path` itself, as it is a device, a pipe or the like */
};

/*
 * Opens a file for writing, but not over a trace: truncating one that is being read, or that a running program writes,
 * would end the process with SIGBUS. Returns NULL with errno set on failure (EEXIST: it is a trace). The caller closes
 * the file, then calls tpa_output_end(), in any case.
 */
FILE *tpa_output_open(struct tpa_output *output, const char *path);

/* What is written now has `path`, or if it is not `good`, nothing has changed. Returns false with errno set on failure. */
bool tpa_output_end(struct tpa_output *output, bool good);

/* The meaning of errno after these. */
const char *tpa_output_error(int error);

#endif
