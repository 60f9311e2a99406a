/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/line/running.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "trace/control.h"

char *tpa_running_trace(const char *name)
{
	struct tpa_control control;
	char *error = NULL, *end, *path;
	long pid = isdigit((unsigned char)name[0]) ? strtol(name, &end, 10) : 0;

	if (pid <= 0 || pid > INT32_MAX || *end || access(name, F_OK) == 0)
		return tpa_strdup(name);
	if (!tpa_control_open(&control, (pid_t)pid, &error)) {
		fprintf(stderr, "tprof-analyze: %s\n", error);
		free(error);
		return NULL;
	}
	path = tpa_strdup(control.path);
	tpa_control_close(&control);
	return path;
}
