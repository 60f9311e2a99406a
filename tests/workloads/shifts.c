/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shifts HOW: processes that hold memory at different times. Each holds what it holds until it ends. What all of them held
 * together at most, in MB:
 *   turns     ten workers, one after the other, 10 each: 10
 *   overlap   A (10) and B (20) live together, then B and C (25), when A is gone: 45
 *   orphan    the parent (30) ends before its child takes 20: 30
 *   killed    a worker (30) is killed, then the parent takes 20: 30
 *   together  the parent (30) waits for its child (20), and both are killed: 50
 *   exec      the program (30) is replaced by itself, which takes 20: 30
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void hold(int megabytes)
{
	for (int i = 0; i < megabytes; i++)
		memset(malloc(1000000), 1, 1000000);
}

static void say(const int end[2])
{
	if (write(end[1], "x", 1) != 1)
		_exit(3);
}

static void wait_for(const int end[2])
{
	char byte;

	if (read(end[0], &byte, 1) != 1)
		_exit(3);
}

static void wait_for_child(pid_t child)
{
	if (waitpid(child, NULL, 0) != child)
		_exit(3);
}

struct worker {
	pid_t pid;
	int ready[2], leave[2];
};

/* A reading of the RSS is due after 10 ms, and is taken at the next call. */
static void be_read(void)
{
	usleep(30000);
	free(malloc(1));
}

/* Returns when it holds that much. */
static struct worker start(int megabytes)
{
	struct worker worker;

	if (pipe(worker.ready) || pipe(worker.leave))
		_exit(3);
	worker.pid = fork();
	if (worker.pid == 0) {
		hold(megabytes);
		be_read();
		say(worker.ready);
		wait_for(worker.leave);
		_exit(0);
	}
	wait_for(worker.ready);
	return worker;
}

static void end(struct worker *worker, bool by_kill)
{
	if (by_kill)
		kill(worker->pid, SIGKILL);
	else
		say(worker->leave);
	wait_for_child(worker->pid);
}

static void orphan(void)
{
	pid_t parent = getpid();

	hold(30);
	if (fork() != 0)
		exit(0);
	while (getppid() == parent)
		usleep(1000);
	hold(20);
	close(open("orphan", O_CREAT | O_WRONLY, 0600));
	_exit(0);
}

static void together(void)
{
	pid_t parent = getpid(), child;

	hold(30);
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 20; i++) {
			hold(1);
			usleep(5000);
		}
		kill(parent, SIGKILL);
		kill(getpid(), SIGKILL);
	}
	wait_for_child(child);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct worker a, b, c;

	if (strcmp(how, "turns") == 0) {
		for (int i = 0; i < 10; i++) {
			a = start(10);
			end(&a, false);
		}
	} else if (strcmp(how, "overlap") == 0) {
		a = start(10);
		b = start(20);
		end(&a, false);
		c = start(25);
		end(&b, false);
		end(&c, false);
	} else if (strcmp(how, "orphan") == 0) {
		orphan();
	} else if (strcmp(how, "killed") == 0) {
		a = start(30);
		end(&a, true);
		hold(20);
	} else if (strcmp(how, "together") == 0) {
		together();
	} else if (strcmp(how, "exec") == 0) {
		hold(30);
		execl("/proc/self/exe", argv[0], "second", (char *)NULL);
		return 3;
	} else if (strcmp(how, "second") == 0) {
		hold(20);
	} else {
		return 2;
	}
	return 0;
}
