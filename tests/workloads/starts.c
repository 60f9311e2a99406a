/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starts HOW PROGRAM ARGUMENT: starts a program with an environment of its own, which has PATH and OWN=1 alone, by one of the
 * ways there are. "fork-..." and "vfork-...": in a child. Its own environment must be as before.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 2000

static char *own[MANY + 3] = { "OWN=1", "PATH=/usr/bin:/bin", NULL };

/* More than any list on a stack has room for. */
static void make_many(void)
{
	static char names[MANY][16];

	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "V%d=1", i);
		own[i + 2] = names[i];
	}
}

static void start(const char *how, char *path, char *argument)
{
	char *arguments[] = { path, argument, NULL };
	const char *base = strrchr(path, '/') + 1;

	if (strcmp(how, "execve") == 0)
		execve(path, arguments, own);
	else if (strcmp(how, "execvpe") == 0)
		execvpe(path, arguments, own);
	else if (strcmp(how, "execle") == 0)
		execle(path, path, argument, NULL, own);
	else if (strcmp(how, "fexecve") == 0)
		fexecve(open(path, O_RDONLY), arguments, own);
	else if (strcmp(how, "execveat") == 0) {
		*strrchr(path, '/') = '\0';
		execveat(open(path, O_PATH | O_DIRECTORY), base, arguments, own, 0);
	} else if (strcmp(how, "syscall") == 0)
		syscall(SYS_execve, path, arguments, own);
	else if (strcmp(how, "syscallat") == 0)
		syscall(SYS_execveat, AT_FDCWD, path, arguments, own, 0);
	else if (strcmp(how, "null") == 0)
		syscall(SYS_execve, path, arguments, NULL);
	else if (strcmp(how, "execv") == 0)
		execv(path, arguments);
	else if (strcmp(how, "execvp") == 0)
		execvp(path, arguments);
	else if (strcmp(how, "execl") == 0)
		execl(path, path, argument, NULL);
	else if (strcmp(how, "execlp") == 0)
		execlp(path, path, argument, NULL);
	fprintf(stderr, "%s: %s\n", how, strerror(errno));
	_exit(127);
}

static pid_t start_child(const char *how, char *path, char *argument)
{
	char *arguments[] = { path, argument, NULL };
	pid_t pid = -1;

	if (strncmp(how, "fork-", 5) == 0)
		pid = fork();
	else if (strncmp(how, "vfork-", 6) == 0)
		pid = vfork();
	else if ((strcmp(how, "spawn") == 0 && posix_spawn(&pid, path, NULL, NULL, arguments, own) != 0) ||
		 (strcmp(how, "spawnp") == 0 && posix_spawnp(&pid, path, NULL, NULL, arguments, own) != 0))
		exit(2);
	if (pid == 0)
		start(strchr(how, '-') + 1, path, argument); /* NOLINT(clang-analyzer-unix.Vfork): as shells do */
	return pid;
}

int main(int argc, char **argv)
{
	extern char **environ;
	char **before = environ, *first = environ[0];
	int status = 0;
	pid_t pid;

	if (argc > 4)
		make_many();
	if (strcmp(argv[1], "failing") == 0) {
		char *arguments[] = { argv[2], NULL };

		if (execve("/does/not/exist", arguments, own) != -1 || errno != ENOENT)
			return 3;
		if (execve("/etc/passwd", arguments, own) != -1 || errno != EACCES)
			return 4;
		return 0;
	}
	if (strncmp(argv[1], "exec", 4) == 0 || strncmp(argv[1], "fexec", 5) == 0 ||
	    strncmp(argv[1], "syscall", 7) == 0 || strcmp(argv[1], "null") == 0)
		start(argv[1], argv[2], argv[3]);
	pid = start_child(argv[1], argv[2], argv[3]);
	if (waitpid(pid, &status, 0) != pid || status || environ != before || environ[0] != first)
		return 1;
	return own[0][0] != 'O' || (argc <= 4 && own[2]);
}
