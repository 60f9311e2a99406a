/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork HOW: makes processes in every way there is. Each writes its truth to TRUTH_FILE.PID: a child's counts begin at
 * its birth, with what it frees of its parent's blocks apart.
 */
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { INHERITED = 50, INHERITED_FREED = 20, OWN = 30, OWN_FREED = 10, SIZE = 200, CHILDREN = 20, THREADS = 4 };

extern char **environ;

static struct truth truth;
static void *inherited[INHERITED];
static atomic_int stop;

static void *allocate(size_t size)
{
	void *p = malloc(size);

	truth_alloc(&truth, size);
	return p;
}

static void allocate_inheritance(void)
{
	for (int i = 0; i < INHERITED; i++)
		inherited[i] = allocate(SIZE);
}

/* What a child does: counts from zero. */
static void child_work(void)
{
	void *own[OWN];

	memset(&truth, 0, sizeof(truth));
	for (int i = 0; i < INHERITED_FREED; i++)
		free(inherited[i]);
	truth.inherited_frees = INHERITED_FREED;
	for (int i = 0; i < OWN; i++)
		own[i] = allocate((size_t)(SIZE + i));
	for (int i = 0; i < OWN_FREED; i++) {
		free(own[i]);
		truth_free(&truth, (size_t)(SIZE + i));
	}
	truth_write_pid(&truth);
}

static void wait_for(pid_t pid, int expected)
{
	int status;
	pid_t done;

	do
		done = waitpid(pid, &status, 0);
	while (done < 0 && errno == EINTR);
	if (done != pid || !WIFEXITED(status) || WEXITSTATUS(status) != expected)
		truth_die("a child");
}

static void fork_once(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		child_work();
		_exit(11);
	}
	wait_for(pid, 11);
}

/* ---- fork beside threads that allocate all the time: whoever holds a lock then, the child must not need it ---- */

static void *allocate_for_ever(void *argument)
{
	while (!atomic_load(&stop)) {
		void *p = malloc(SIZE);

		p = realloc(p, (size_t)2 * SIZE);
		free(p);
	}
	return argument;
}

static void fork_beside_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, allocate_for_ever, NULL);
	for (int i = 0; i < CHILDREN; i++)
		fork_once();
	atomic_store(&stop, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* A child that no atfork handler knows of. */
static void raw_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		child_work();
		_exit(11);
	}
	wait_for(pid, 11);
}

/* The grandchild's inheritance: the child put new blocks in the place of those that it freed. */
static void fork_nested(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		memset(&truth, 0, sizeof(truth));
		for (int i = 0; i < INHERITED_FREED; i++)
			free(inherited[i]);
		truth.inherited_frees = INHERITED_FREED;
		for (int i = 0; i < INHERITED_FREED; i++)
			inherited[i] = allocate(SIZE);
		truth_write_pid(&truth);
		fork_once();
		_exit(12);
	}
	wait_for(pid, 12);
}

/* ---- programs started ---- */

static char *exec_arguments(char **arguments, const char *how)
{
	arguments[0] = "/proc/self/exe";
	arguments[1] = (char *)how;
	arguments[2] = NULL;
	return arguments[0];
}

static void vfork_exec(void)
{
	char *arguments[3];
	char *path = exec_arguments(arguments, "single");
	pid_t pid = vfork();

	if (pid == 0) {
		execv(path, arguments);
		_exit(127);
	}
	wait_for(pid, 0);
}

static void spawn(void)
{
	char *arguments[3];
	char *path = exec_arguments(arguments, "single");
	pid_t pid;

	if (posix_spawn(&pid, path, NULL, NULL, arguments, environ))
		truth_die("posix_spawn");
	wait_for(pid, 0);
}

/* exec3 -> exec2 -> exec1 -> single: one process, four programs. */
static void exec_chain(const char *how)
{
	char next[8] = "single";
	char *arguments[3];
	char *path;

	if (how[4] > '1')
		snprintf(next, sizeof(next), "exec%c", how[4] - 1);
	truth_write_as(&truth, how[4] == '1' ? ".1" : how[4] == '2' ? ".2" : ".3");
	path = exec_arguments(arguments, next);
	execv(path, arguments);
	truth_die("execv");
}

/* A vfork child runs on its parent's memory and stack: what it allocates is the parent's to free. */
static void vfork_allocates(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(13);
	wait_for(pid, 13);
	free(inherited[0]);
	truth_free(&truth, SIZE);
}

/* ---- daemons close every descriptor, and work on ---- */

static void close_everything(const char *how, rlim_t hard_limit)
{
	if (!strcmp(how, "closefrom"))
		closefrom(0);
	else if (!strcmp(how, "close_range"))
		close_range(0, ~0u, 0);
	else if (!strcmp(how, "close_limit"))
		setrlimit(RLIMIT_NOFILE,
			  &(struct rlimit){ 0, hard_limit }); /* nothing is closed, and nothing can be opened */
	else
		for (int fd = 0; fd < 1024; fd++)
			close(fd);
}

static void work_without_descriptors(const char *how)
{
	struct rlimit before;

	getrlimit(RLIMIT_NOFILE, &before);
	close_everything(how, before.rlim_max);
	for (int i = 0; i < 100000; i++)
		allocate(SIZE);
	setrlimit(RLIMIT_NOFILE, &before);
	truth_write(&truth);
	_exit(0);
}

static void daemonize(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0) {
			closefrom(0);
			child_work();
			_exit(12);
		}
		wait_for(pid, 12);
		_exit(11);
	}
	wait_for(pid, 11);
}

/* A daemon whose parent is over before it does anything; it closes the pipe when it is over itself. */
static void orphan(void)
{
	int ends[2];
	char byte;
	pid_t pid, parent;

	if (pipe(ends))
		truth_die("pipe");
	pid = fork();
	if (pid == 0) {
		free(malloc(SIZE));
		parent = getpid();
		if (fork() != 0)
			_exit(11);
		setsid();
		while (getppid() == parent)
			sched_yield();
		child_work();
		_exit(12);
	}
	close(ends[1]);
	wait_for(pid, 11);
	if (read(ends[0], &byte, 1) != 0)
		truth_die("read");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	allocate_inheritance();
	if (!strcmp(how, "fork"))
		fork_once();
	else if (!strcmp(how, "threads"))
		fork_beside_threads();
	else if (!strcmp(how, "clone"))
		raw_clone();
	else if (!strcmp(how, "nested"))
		fork_nested();
	else if (!strcmp(how, "vfork"))
		vfork_allocates();
	else if (!strcmp(how, "vfork_exec"))
		vfork_exec();
	else if (!strcmp(how, "spawn"))
		spawn();
	else if (!strncmp(how, "exec", 4))
		exec_chain(how);
	else if (!strcmp(how, "daemon"))
		daemonize();
	else if (!strcmp(how, "orphan"))
		orphan();
	else if (!strncmp(how, "close", 5))
		work_without_descriptors(how);
	else if (strcmp(how, "single"))
		truth_die("usage: fork HOW");
	if (strcmp(how, "threads"))
		truth_write(&truth);
	TRUTH_SAY("fork: done\n");
	return 0;
}
