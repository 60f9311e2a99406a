/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/output.h"

#include <errno.h>
#include <string.h>

#include "trace/trace.h"

FILE *tpa_output_open(const char *path)
{
	if (tpa_trace_is(path)) {
		errno = EEXIST;
		return NULL;
	}
	return fopen(path, "we");
}

const char *tpa_output_error(int error)
{
	return error == EEXIST ? "it is a trace" : strerror(error);
}
