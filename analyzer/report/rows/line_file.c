/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/line_file.h"

#include <errno.h>
#include <string.h>

bool tpa_line_read(FILE *in, char *line, const char **wrong)
{
	*wrong = NULL;
	if (!fgets(line, TPA_LINE_MOST, in)) {
		if (ferror(in))
			*wrong = strerror(errno);
		return false;
	}
	if (!strchr(line, '\n') && !feof(in))
		*wrong = "a line with a NUL in it, or of more than 65,534 bytes";
	return !*wrong;
}
