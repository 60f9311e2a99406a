/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forkers: forks workers at several places. Each writes a line to standard output: where it was forked, and its pid.
 *   readers  five, by fork() in a function; each takes 1 MB
 *   writers  five, by fork() in another; each takes 3 MB, but one 9 MB
 *   twice    three, by a child that itself did nothing before; forked in start_twice
 *   thread   two, by a thread that did nothing before
 *   signal   one, by a signal's handler
 *   raw      two, by the system call
 *   first, second   two each, by a function that both pools call
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MB 1000000

static void work(const char *name, size_t bytes)
{
	char line[100], *block = malloc(bytes);
	int length = snprintf(line, sizeof(line), "%s %d\n", name, (int)getpid());

	if (!block || write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(1);
	memset(block, 1, bytes);
	_exit(0);
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		;
}

static __attribute__((noinline)) void start_readers(void)
{
	for (int i = 0; i < 5; i++)
		if (fork() == 0) /* readers */
			work("readers", MB);
	wait_for_all();
}

static __attribute__((noinline)) void start_writers(void)
{
	for (int i = 0; i < 5; i++)
		if (fork() == 0) /* writers */
			work("writers", i == 2 ? 9 * MB : 3 * MB);
	wait_for_all();
}

/* The child between has no trace of its own, and no stack in it. */
static __attribute__((noinline)) void start_twice(void)
{
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) { /* twice */
			if (fork() == 0)
				work("twice", MB);
			wait(NULL);
			syscall(SYS_exit_group, 0);
		}
	}
	wait_for_all();
}

static __attribute__((noinline)) void *start_by_thread(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++)
		if (fork() == 0) /* thread */
			work("thread", MB);
	return NULL;
}

static __attribute__((noinline)) void start_on_signal(int number)
{
	(void)number;
	if (fork() == 0) /* signal */
		work("signal", MB);
}

static __attribute__((noinline)) void start_raw(void)
{
	for (int i = 0; i < 2; i++)
		if (syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) == 0)
			work("raw", MB);
	wait_for_all();
}

static __attribute__((noinline)) void spawn(const char *name)
{
	if (fork() == 0)
		work(name, MB);
}

static __attribute__((noinline)) void start_first(void)
{
	for (int i = 0; i < 2; i++)
		spawn("first"); /* first */
	wait_for_all();
}

static __attribute__((noinline)) void start_second(void)
{
	for (int i = 0; i < 2; i++)
		spawn("second"); /* second */
	wait_for_all();
}

int main(void)
{
	pthread_t thread;

	start_readers();
	start_writers();
	start_twice();
	if (pthread_create(&thread, NULL, start_by_thread, NULL) || pthread_join(thread, NULL))
		return 1;
	wait_for_all();
	if (signal(SIGUSR1, start_on_signal) == SIG_ERR || raise(SIGUSR1))
		return 1;
	wait_for_all();
	start_raw();
	start_first();
	start_second();
	return 0;
}
