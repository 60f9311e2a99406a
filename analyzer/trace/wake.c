/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/wake.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tprof/format.h>

/* What /proc says of a thread. */
struct status {
	char state;
	uint64_t blocked, caught; /* signals; bit n - 1 */
};

static bool read_status(pid_t pid, pid_t tid, struct status *status)
{
	char path[64], line[256];
	FILE *file;

	*status = (struct status){ .blocked = UINT64_MAX };
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "State: %c", &status->state);
		sscanf(line, "SigBlk: %" SCNx64, &status->blocked);
		sscanf(line, "SigCgt: %" SCNx64, &status->caught);
	}
	if (!file)
		return false;
	fclose(file);
	return true;
}

static bool takes(pid_t pid, pid_t tid, uint64_t bit)
{
	struct status status;

	return read_status(pid, tid, &status) && status.caught & bit && !(status.blocked & bit);
}

static bool send_to(pid_t pid, pid_t tid, uint32_t number)
{
	siginfo_t info = { 0 };

	info.si_signo = (int)number;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)TPROF_CONTROL_WAKE; // NOLINT(performance-no-int-to-ptr)
	return syscall(SYS_rt_tgsigqueueinfo, pid, tid, (int)number, &info) == 0;
}

/* Wakes the first thread behind `last`, in order of numbers, that accepts the signal. The first number is the process's. */
static bool wake_behind(struct tpa_wake *wake, uint32_t number)
{
	uint64_t bit = UINT64_C(1) << (number - 1);
	struct dirent *entry;
	char path[64];
	bool woken = false;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)wake->pid);
	tasks = opendir(path);
	while (tasks && !woken && (entry = readdir(tasks)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid <= wake->last || !takes(wake->pid, tid, bit))
			continue;
		woken = send_to(wake->pid, tid, number);
		wake->last = tid;
	}
	if (tasks)
		closedir(tasks);
	return woken;
}

bool tpa_wake_is_stopped(pid_t pid)
{
	struct status status;

	return read_status(pid, pid, &status) && (status.state == 'T' || status.state == 't');
}

bool tpa_wake_next(struct tpa_wake *wake, uint64_t number)
{
	if (number == 0 || number > 64 || tpa_wake_is_stopped(wake->pid))
		return false;
	if (wake_behind(wake, (uint32_t)number))
		return true;
	wake->last = 0;
	return wake_behind(wake, (uint32_t)number);
}
