/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int tpa_temporary_file(const char *folder)
{
	const char *said = getenv("TMPDIR");
	char path[PATH_MAX];
	int file;

	folder = said && *said ? said : folder;
	file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file >= 0)
		return file;
	/* Not every file system has files without a name. */
	if (snprintf(path, sizeof(path), "%s/tprof-XXXXXX", folder) >= (int)sizeof(path))
		return -1;
	file = mkostemp(path, O_CLOEXEC);
	if (file >= 0)
		unlink(path);
	return file;
}
