/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops that wait in known ways: asleep, in read() of an empty pipe, for a mutex, in a loop of sched_yield; and one that works. For each
 * the program prints its name, the time that it took, and the CPU time of its thread in it; nanoseconds.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tprof.h"

#define TIMES 10
#define WAIT_US 20000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int pipe_ends[2];

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* For so much CPU time of its own. */
static void busy(int yields)
{
	double until = now(CLOCK_THREAD_CPUTIME_ID) + WAIT_US * 1e3;

	while (now(CLOCK_THREAD_CPUTIME_ID) < until)
		for (int i = 0; i < 1000; i++) {
			if (yields)
				sched_yield();
			else
				__asm__ volatile("" ::: "memory");
		}
}

static void *other(void *unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++) { /* the mutex is held before the other wants it */
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&barrier);
		usleep(WAIT_US);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&barrier);
	}
	for (int i = 0; i < TIMES; i++) {
		usleep(WAIT_US);
		if (write(pipe_ends[1], "x", 1) != 1)
			return NULL;
	}
	return NULL;
}

static void sleeps(void)
{
	usleep(WAIT_US);
}

static void locks(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void reads(void)
{
	char byte;

	if (read(pipe_ends[0], &byte, 1) != 1)
		perror("read");
}

static void spins(void)
{
	busy(1);
}

static void works(void)
{
	busy(0);
}

static void run(const char *name, void (*function)(void), int with_other)
{
	double took = 0, cpu = 0;

	for (int i = 0; i < TIMES; i++) {
		double began, began_cpu;

		if (with_other)
			pthread_barrier_wait(&barrier);
		began = now(CLOCK_MONOTONIC);
		began_cpu = now(CLOCK_THREAD_CPUTIME_ID);
		tprof_op_begin(name, "waits");
		function();
		tprof_op_end();
		cpu += now(CLOCK_THREAD_CPUTIME_ID) - began_cpu;
		took += now(CLOCK_MONOTONIC) - began;
		if (with_other)
			pthread_barrier_wait(&barrier);
	}
	printf("%s %.0f %.0f\n", name, took, cpu);
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pipe(pipe_ends) || pthread_create(&thread, NULL, other, NULL))
		return 1;
	run("locks", locks, 1);
	run("reads", reads, 0);
	pthread_join(thread, NULL);
	run("sleeps", sleeps, 0);
	run("spins", spins, 0);
	run("works", works, 0);
	return 0;
}
