/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until the other threads sleep, however long a busy machine takes to let them come to it. */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By /proc/self/task/TID/stat. */
static inline bool asleep(const char *tid)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	state = strrchr(text, ')');
	return state && strncmp(state, ") S", 3) == 0;
}

/* What a thread says before it waits must be the last thing that it does before. */
static inline void wait_until_others_sleep(void)
{
	bool all;

	do {
		DIR *tasks = opendir("/proc/self/task");

		all = tasks != NULL;
		for (struct dirent *task; tasks && (task = readdir(tasks));)
			if (task->d_name[0] != '.' && atoi(task->d_name) != gettid())
				all &= asleep(task->d_name);
		if (tasks)
			closedir(tasks);
		usleep(1000);
	} while (!all);
}

#endif
