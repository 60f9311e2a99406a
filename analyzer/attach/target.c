/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/target.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define SECCOMP_FILTER 2

bool tpa_target_status(pid_t pid, const char *name, char *value, size_t size)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		size_t length = strlen(name);

		if (strncmp(line, name, length) != 0 || line[length] != ':')
			continue;
		snprintf(value, size, "%s", line + length + 1 + strspn(line + length + 1, " \t"));
		value[strcspn(value, "\n")] = 0;
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

static long number_field(pid_t pid, const char *name)
{
	char value[256];

	return tpa_target_status(pid, name, value, sizeof(value)) ? strtol(value, NULL, 10) : -1;
}

const char *tpa_target_name(pid_t pid)
{
	static char name[64];

	if (!tpa_target_status(pid, "Name", name, sizeof(name)))
		snprintf(name, sizeof(name), "?");
	return name;
}

bool tpa_target_has_library(pid_t pid)
{
	char path[64], *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && !found && getline(&line, &room, file) > 0)
		found = strstr(line, "/libtprof") != NULL;
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* Paths mean something else to a process in another mount namespace. */
static bool sees_same_files(pid_t pid)
{
	char path[64];
	struct stat own, theirs;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat("/proc/self/ns/mnt", &own) != 0 || stat(path, &theirs) != 0)
		return true; /* not permitted: ptrace will say so */
	if (own.st_ino != theirs.st_ino)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return stat("/", &own) != 0 || stat(path, &theirs) != 0 ||
	       (own.st_ino == theirs.st_ino && own.st_dev == theirs.st_dev);
}

static bool is_other_machine(const char *exe)
{
	FILE *file = fopen(exe, "re");
	Elf64_Ehdr header;
	bool other;

	if (!file)
		return false; /* not permitted: ptrace will say so */
	other = fread(&header, sizeof(header), 1, file) != 1 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
		header.e_machine != EM_X86_64;
	fclose(file);
	return other;
}

static char *state_obstacle(pid_t pid)
{
	char state[64];

	if (!tpa_target_status(pid, "State", state, sizeof(state)))
		return tpa_strdup("does not exist");
	switch (state[0]) {
	case 'Z':
	case 'X':
		return tpa_strdup("has ended");
	case 'T':
		return tpa_format("is stopped; kill -CONT %d lets it run", (int)pid);
	}
	return NULL;
}

char *tpa_target_obstacle(pid_t pid)
{
	char *obstacle = state_obstacle(pid), exe[64], path[4096];
	long tracer;

	if (obstacle)
		return obstacle;
	if (number_field(pid, "Tgid") != pid)
		return tpa_format("is a thread of process %ld", number_field(pid, "Tgid"));
	tracer = number_field(pid, "TracerPid");
	if (tracer > 0)
		return tpa_format("is traced by %s (pid %ld), and only one process may trace it",
				  tpa_target_name((pid_t)tracer), tracer);
	if (number_field(pid, "Seccomp") == SECCOMP_FILTER)
		return tpa_strdup(
			"is in a seccomp sandbox, which may end it for what tprof does; start it with tprof run, "
			"which records until the sandbox begins");
	if (!sees_same_files(pid))
		return tpa_strdup("sees other files (a container, or chroot); run tprof attach inside of it");
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (readlink(exe, path, sizeof(path)) < 0 && errno == ENOENT)
		return tpa_strdup("is a thread of the kernel");
	return is_other_machine(exe) ? tpa_strdup("is not a program for x86-64") : NULL;
}

static int ptrace_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (file) {
		scope = fgetc(file) - '0';
		fclose(file);
	}
	return scope;
}

char *tpa_target_refusal(pid_t pid, int error)
{
	long uid = number_field(pid, "Uid");
	const struct passwd *user = uid >= 0 ? getpwuid((uid_t)uid) : NULL;

	if (error == ESRCH)
		return tpa_strdup("has ended");
	if (error != EPERM)
		return tpa_format("can't be traced: %s", strerror(error));
	if (geteuid() != 0 && uid >= 0 && uid != (long)geteuid())
		return tpa_format("is another user's (%s): attach as that user, or as root",
				  user ? user->pw_name : "?");
	if (ptrace_scope() == 3)
		return tpa_strdup(
			"can't be traced: kernel.yama.ptrace_scope is 3, which forbids it until the next boot");
	if (ptrace_scope() == 2)
		return tpa_strdup("can't be traced: kernel.yama.ptrace_scope is 2: attach as root");
	if (ptrace_scope() == 1 && geteuid() != 0)
		return tpa_strdup(
			"can't be traced: kernel.yama.ptrace_scope is 1; this permits it until the next boot: "
			"sudo sysctl kernel.yama.ptrace_scope=0 (or attach as root)");
	return tpa_strdup(
		"can't be traced: the kernel forbids it (a program with capabilities or set-user-ID, or a container "
		"without CAP_SYS_PTRACE)");
}

bool tpa_target_is_stuck(pid_t pid, pid_t tid)
{
	char path[64], line[256], *name_end;
	bool stuck = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file) && (name_end = strrchr(line, ')')))
		stuck = strncmp(name_end, ") D", 3) == 0;
	if (file)
		fclose(file);
	return stuck;
}

pid_t *tpa_target_threads(pid_t pid)
{
	size_t count = 0, room = 0;
	pid_t *threads = NULL;
	struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder)
		return NULL;
	*TPA_APPEND(threads, count, room) = pid;
	while ((entry = readdir(folder))) {
		pid_t tid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)strtol(entry->d_name, NULL, 10) : pid;

		if (tid != pid)
			*TPA_APPEND(threads, count, room) = tid;
	}
	closedir(folder);
	*TPA_APPEND(threads, count, room) = 0;
	return threads;
}
