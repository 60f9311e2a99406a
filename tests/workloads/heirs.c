/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heirs STATE WAY PROGRAM ARGUMENT...: ignores ("i" in STATE) and blocks ("b") all real-time signals, and starts a program in one
 * of the ways there are. Then it says how it has the signals itself.
 * heirs show: says which signals are ignored and blocked, as far as a program can see.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset, sigrelse: programs still call them */

extern char **environ;

static char **arguments;

static void show(const char *who)
{
	unsigned long ignored = 0, blocked = 0, pending = 0;
	struct sigaction action;
	sigset_t mask, waiting;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&waiting);
	for (int number = 1; number <= 64; number++) {
		unsigned long bit = 1ul << (number - 1);

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			ignored |= bit;
		blocked |= sigismember(&mask, number) == 1 ? bit : 0;
		pending |= sigismember(&waiting, number) == 1 ? bit : 0;
	}
	printf("%s: ignored %lx blocked %lx pending %lx\n", who, ignored, blocked, pending);
	fflush(stdout);
}

static sigset_t real_time(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaddset(&set, number);
	return set;
}

static void set_all(__sighandler_t handler)
{
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		signal(number, handler);
}

static void burn(unsigned int milliseconds)
{
	clock_t end = clock() + (clock_t)milliseconds * CLOCKS_PER_SEC / 1000;

	while (clock() < end)
		;
}

/* What a child does to its own signals, between vfork and exec. */
static void change(const char *how)
{
	sigset_t set = real_time(), none;

	sigemptyset(&none);
	if (strcmp(how, "reset") == 0) {
		set_all(SIG_DFL);
		sigprocmask(SIG_SETMASK, &none, NULL);
	} else if (strcmp(how, "unblock") == 0) {
		sigprocmask(SIG_UNBLOCK, &set, NULL);
	} else if (strcmp(how, "block") == 0) {
		sigprocmask(SIG_BLOCK, &set, NULL);
	} else if (strcmp(how, "ignore") == 0) {
		set_all(SIG_IGN);
	} else if (strcmp(how, "older") == 0) { /* unblocks, and holds every other one again */
		for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
			sigrelse(number);
			if (number % 2)
				sighold(number);
		}
	} else if (strcmp(how, "sigset") == 0) {
		for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
			sigset(number, SIG_IGN);
	} else if (strcmp(how, "keep") == 0) { /* as it finds them */
		struct sigaction found;
		sigset_t mask;

		sigprocmask(SIG_SETMASK, &set, &mask);
		for (int number = SIGRTMIN; number <= SIGRTMAX; number++) {
			sigaction(number, NULL, &found);
			if (found.sa_handler != SIG_DFL && found.sa_handler != SIG_IGN)
				_exit(5);
			sigaction(number, &found, NULL);
		}
		sigprocmask(SIG_SETMASK, &mask, NULL);
	}
}

static void check(int wrong, const char *what)
{
	if (wrong) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		_exit(3);
	}
}

static void wait_for(pid_t pid)
{
	int status = -1;

	check(waitpid(pid, &status, 0) != pid || status, "child");
}

static void start_in_vfork(const char *how)
{
	pid_t pid = vfork();

	if (pid == 0) {
		change(how); /* NOLINT(clang-analyzer-unix.Vfork): as shells and runtimes do */
		execve("/does/not/exist", arguments, environ);
		execve(arguments[0], arguments, environ);
		_exit(127);
	}
	wait_for(pid);
}

static void start_in_fork(const char *how)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (*how)
			change(how);
		execve("/does/not/exist", arguments, environ);
		syscall(SYS_execve, arguments[0], arguments, environ);
		_exit(127);
	}
	wait_for(pid);
}

static void spawn(const char *how)
{
	posix_spawnattr_t attributes;
	sigset_t set = real_time(), none;
	pid_t pid = -1;
	short flags = 0;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &set);
	posix_spawnattr_setsigmask(&attributes, strstr(how, "all") ? &set : &none);
	if (strstr(how, "mask"))
		flags |= POSIX_SPAWN_SETSIGMASK;
	if (strstr(how, "default"))
		flags |= POSIX_SPAWN_SETSIGDEF;
	posix_spawnattr_setflags(&attributes, flags);
	check(posix_spawn(&pid, "/does/not/exist", NULL, &attributes, arguments, environ) != ENOENT,
	      "spawn of nothing");
	check(posix_spawnp(&pid, arguments[0], NULL, &attributes, arguments, environ), "spawn");
	posix_spawnattr_destroy(&attributes);
	wait_for(pid);
}

static void start_by_shell(const char *how)
{
	char command[1024] = "exec", line[1024];
	FILE *shell;

	for (char **argument = arguments; *argument; argument++) {
		size_t length = strlen(command);

		snprintf(command + length, sizeof(command) - length, " '%s'", *argument);
	}
	if (strcmp(how, "system") == 0) {
		check(system(command), "system"); /* NOLINT(cert-env33-c): what is tested */
		return;
	}
	shell = popen(command, "r"); /* NOLINT(cert-env33-c) */
	check(!shell, "popen");
	while (fgets(line, sizeof(line), shell))
		fputs(line, stdout);
	fflush(stdout);
	check(pclose(shell), "popen's program");
}

static void *spawn_some(void *unused)
{
	for (int i = 0; i < 10; i++)
		spawn("");
	return unused;
}

/* Threads start programs at the same time. */
static void spawn_from_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, spawn_some, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	sigset_t set = real_time();

	if (argc == 2) {
		show(argv[1]);
		return 0;
	}
	arguments = argv + 3;
	if (strchr(argv[1], 'i'))
		set_all(SIG_IGN);
	if (strchr(argv[1], 'b'))
		sigprocmask(SIG_BLOCK, &set, NULL);
	if (strncmp(argv[2], "vfork-", 6) == 0)
		start_in_vfork(argv[2] + 6);
	else if (strncmp(argv[2], "fork-", 5) == 0)
		start_in_fork(argv[2] + 5);
	else if (strcmp(argv[2], "threads") == 0)
		spawn_from_threads();
	else if (strcmp(argv[2], "system") == 0 || strcmp(argv[2], "popen") == 0)
		start_by_shell(argv[2]);
	else if (strncmp(argv[2], "spawn", 5) == 0)
		spawn(argv[2] + 5);
	execve("/does/not/exist", arguments, environ);
	show("starter");
	burn(50);
	show("starter");
	if (strcmp(argv[2], "exec") == 0) {
		execv(arguments[0], arguments);
		return 127;
	}
	return 0;
}
