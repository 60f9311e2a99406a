/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_task main|thread|idle: a task made by a raw clone with CLONE_VM and without CLONE_SETTLS: a process of its own that shares
 * the memory and the TLS of who made it: of the main thread, or of another. They take turns, so that libc's allocator,
 * which keeps things in TLS too, comes to no harm. The truth is what the maker does; the task's is a number of its own.
 */
#include "truth.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { TURNS = 50, BLOCKS = 4, SIZE = 200, TASK_SIZE = 3000, TASK_STACK = 256 * 1024, STATUS = 17 };

static struct truth truth;
static atomic_int turn; /* the task's if odd */
static pid_t maker;
static unsigned char *passed[TURNS]; /* what the task allocated for its maker */

static void *allocate(unsigned char fill)
{
	unsigned char *p = malloc(SIZE);

	if (!p)
		truth_die("malloc");
	memset(p, fill, SIZE);
	truth_alloc(&truth, SIZE);
	return p;
}

static void release(unsigned char *p, unsigned char fill)
{
	if (p[0] != fill || p[SIZE - 1] != fill)
		truth_die("a block");
	free(p);
	truth_free(&truth, SIZE);
}

/* Five calls a turn. One block is for the maker to free. */
static int task(void *argument)
{
	for (int i = 0; i < TURNS; i++) {
		unsigned char *p, *q;

		while (atomic_load(&turn) != 2 * i + 1) {
			if (getppid() != maker)
				_exit(98);
			sched_yield();
		}
		p = realloc(malloc(TASK_SIZE), (size_t)2 * TASK_SIZE);
		q = calloc(1, TASK_SIZE);
		passed[i] = malloc(TASK_SIZE);
		if (!p || !q || !passed[i])
			_exit(97);
		memset(p, 0xee, (size_t)2 * TASK_SIZE);
		passed[i][TASK_SIZE - 1] = (unsigned char)i;
		free(p);
		atomic_store(&turn, 2 * i + 2);
	}
	return argument ? STATUS : 0;
}

static void wait_for_turn(pid_t pid, int mine)
{
	siginfo_t over = { 0 };

	while (atomic_load(&turn) != mine) {
		if (waitid(P_PID, (id_t)pid, &over, WEXITED | WNOHANG | WNOWAIT) == 0 && over.si_pid == pid &&
		    atomic_load(&turn) != mine)
			truth_die("the task");
		sched_yield();
	}
}

/* The maker's turns: a block of each stays until the end. */
static void *make_a_task(void *argument)
{
	unsigned char *blocks[BLOCKS];
	unsigned char *stack;
	pid_t pid;
	int status;

	free(malloc(SIZE)); /* the thread is known before the task is there */
	truth_alloc(&truth, SIZE);
	truth_free(&truth, SIZE);
	stack = mmap(NULL, TASK_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED)
		truth_die("mmap");
	maker = getpid();
	pid = clone(task, stack + TASK_STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, &truth);
	if (pid < 0)
		truth_die("clone");
	for (int i = 0; i < TURNS; i++) {
		for (int k = 0; k < BLOCKS; k++)
			blocks[k] = allocate((unsigned char)(i + k));
		atomic_store(&turn, 2 * i + 1);
		wait_for_turn(pid, 2 * i + 2);
		for (int k = 1; k < BLOCKS; k++)
			release(blocks[k], (unsigned char)(i + k));
		if (passed[i][TASK_SIZE - 1] != (unsigned char)i)
			truth_die("the task's block");
		free(passed[i]);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != STATUS)
		truth_die("the task's end");
	return argument;
}

static void *do_nothing(void *argument)
{
	return argument;
}

int main(int argc, char **argv)
{
	const char *who = argc == 2 ? argv[1] : "";
	void *(*work)(void *) = !strcmp(who, "thread") ? make_a_task : do_nothing;
	pthread_t thread;

	if (!strcmp(who, "main"))
		make_a_task(NULL);
	else if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		truth_die("a thread");
	truth_write(&truth);
	TRUTH_SAY("shared_task: done\n");
	return 0;
}
