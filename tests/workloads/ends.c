/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends HOW: allocates a known number of blocks, writes the truth, and ends that way. What is in the trace must be all
 * of it, whatever the end: nothing waits in a buffer for an orderly exit.
 */
#include "truth.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

enum { BLOCKS = 1000, FREED = 400 };

static struct truth truth;
static void *blocks[BLOCKS];

static void *allocate(size_t size)
{
	void *p = malloc(size);

	truth_alloc(&truth, size);
	return p;
}

static void release(void *p, size_t size)
{
	truth_free(&truth, size);
	free(p);
}

static void allocate_all(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = allocate(100 + i);
	for (size_t i = 0; i < FREED; i++)
		release(blocks[i], 100 + i);
}

/* ---- handlers and destructors that still allocate ---- */

static void at_exit(void)
{
	release(allocate(5000), 5000);
	release(blocks[FREED], 100 + FREED);
	allocate(77);
	truth_write(&truth);
}

static pthread_key_t key;
static pthread_barrier_t barrier;

/* The first round sets a value again, so that a second round comes, behind the destructors of everybody else. */
static void tls_destructor(void *value)
{
	release(value, 300);
	allocate(31);
	if (!pthread_getspecific(key) && truth.allocations < BLOCKS + 6)
		pthread_setspecific(key, allocate(300));
}

static void *thread_with_tls(void *argument)
{
	pthread_setspecific(key, allocate(300));
	return argument;
}

static void end_tls(void)
{
	pthread_t thread;

	pthread_key_create(&key, tls_destructor);
	pthread_create(&thread, NULL, thread_with_tls, NULL);
	pthread_join(thread, NULL);
	truth_write(&truth);
}

static void *last_thread(void *argument)
{
	pthread_join(*(pthread_t *)argument, NULL);
	release(allocate(9), 9);
	truth_write(&truth);
	exit(5);
}

/* main goes, the process stays. */
static void end_main_thread(void)
{
	static pthread_t main_thread, thread;

	main_thread = pthread_self();
	pthread_create(&thread, NULL, last_thread, &main_thread);
	pthread_exit(NULL);
}

static void *segfault(void *argument)
{
	pthread_barrier_wait(&barrier);
	*(volatile int *)argument = 1;
	return NULL;
}

static void end_segfault_in_thread(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, segfault, NULL);
	truth_write(&truth);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

static void end_by(const char *how)
{
	volatile int *volatile nowhere = NULL;

	if (!strcmp(how, "_exit"))
		_exit(3);
	else if (!strcmp(how, "exit_group"))
		syscall(SYS_exit_group, 4);
	else if (!strcmp(how, "quick_exit"))
		quick_exit(6);
	else if (!strcmp(how, "abort"))
		abort();
	else if (!strcmp(how, "segfault"))
		*nowhere = 1;
	else if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	else if (!strcmp(how, "pause"))
		pause(); /* runs on, until somebody ends it */
	else if (!strcmp(how, "exit"))
		exit(7);
	else
		truth_die("usage: ends HOW");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	TRUTH_SAY("ends: begins\n");
	allocate_all();
	truth_write(&truth);
	if (!strcmp(how, "atexit"))
		return atexit(at_exit);
	if (!strcmp(how, "at_quick_exit")) {
		at_quick_exit(at_exit);
		quick_exit(0);
	}
	if (!strcmp(how, "tls"))
		end_tls();
	else if (!strcmp(how, "main_thread"))
		end_main_thread();
	else if (!strcmp(how, "segfault_in_thread"))
		end_segfault_in_thread();
	else
		end_by(how);
	return 0;
}
