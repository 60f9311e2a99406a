/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of the test program's own, made before its first test and removed behind its last. */
#ifndef TPROF_TESTS_FOLDER_H
#define TPROF_TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

static char folder[] = "/tmp/tprof-unit-XXXXXX";

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

#endif
