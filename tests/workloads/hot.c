/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot HOW CALLS N: very many very short calls of libtinyblas.so, through the PLT.
 *   plain     CALLS of cblas_saxpy on N elements
 *   lengths   the same on 1, 2, ... N, 1, 2, ... elements, by turns with saxpy_
 *   allocate  cblas_sscal, which allocates now and then
 *   rarely    the same, at each 20,000th call
 *   jumps     tiny_call, of which each 20,000th is left by a longjmp; a timer's signal handler, each millisecond of CPU
 *             time, calls cblas_sdot
 *   exits     CALLS of tiny_call on each of N threads, one after the other: the last is left by pthread_exit
 *   waits     the same: by pthread_cancel
 *   small     CALLS of cblas_sscal, as allocate, and of tiny_call, by turns, on a thread of the smallest stack there is
 *   forks     tiny_call, of which each 500,000th forks: the child makes ten more, and ends
 *   stops     tiny_call, in which each 500,000th time recording is paused: it is begun again within another
 *   nested    CALLS / N of cblas_sgemv with N rows of 10 elements: N calls of cblas_sdot each
 *   threads   as plain, on each of two threads
 *   kill      as plain; then it kills itself
 *   slow      cblas_saxpy, of which each 50,000th call has 1,000 times as many elements
 * What was called, and the sum of the lengths, go to the file that TRUTH_FILE names.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tprof.h>

#include "tinyblas.h"

#define LONG_EVERY 50000
#define LONG_TIMES 1000
#define RARELY 20000
#define SELDOM 500000
#define FEW 10

static unsigned long calls;
static int length;
static const char *how;

static sigjmp_buf back;
static unsigned long jumped;
static volatile unsigned long handled;

static void jump_rarely(void)
{
	if (++jumped % RARELY == 0)
		siglongjmp(back, 1);
}

static void handle(int signal)
{
	float x[4] = { 1, 2, 3, 4 };

	(void)signal;
	cblas_sdot(4, x, 1, x, 1);
	handled++;
}

static void jumps(void)
{
	struct itimerval each = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
	const char *name = getenv("TRUTH_FILE");
	FILE *file;

	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &each, NULL);
	while (jumped < calls) {
		if (sigsetjmp(back, 0))
			continue;
		while (jumped < calls)
			tiny_call(jump_rarely);
	}
	for (unsigned long before = handled; handled == before;)
		; /* once more, where nothing is recorded: on a busy machine it may not have come at all */
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	file = name ? fopen(name, "w") : NULL;
	if (file) {
		fprintf(file, "{\"handled\": %lu}\n", handled);
		fclose(file);
	}
}

static void nothing(void)
{
}

static void leave(void)
{
	pthread_exit(NULL);
}

static void wait_for_the_end(void)
{
	for (;;)
		pause();
}

static void *calls_thread(void *last)
{
	void (**function)(void) = last;

	for (unsigned long i = 1; i < calls; i++)
		tiny_call(nothing);
	tiny_call(*function);
	return NULL;
}

static void exits(void)
{
	void (*last)(void) = strcmp(how, "exits") ? wait_for_the_end : leave;

	for (int i = 0; i < length; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, calls_thread, &last))
			abort();
		if (last == wait_for_the_end) {
			usleep(1000);
			pthread_cancel(thread); /* it takes effect in pause(), wherever the thread is now */
		}
		pthread_join(thread, NULL);
	}
}

static bool is_child, is_stopped;

static void fork_seldom(void)
{
	static unsigned long made;
	pid_t pid;

	if (++made % SELDOM)
		return;
	pid = fork();
	is_child = pid == 0;
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void forks(void)
{
	for (unsigned long i = 0; i < calls && !is_child; i++)
		tiny_call(fork_seldom);
	if (!is_child)
		return;
	for (int i = 0; i < FEW; i++)
		tiny_call(nothing);
	_exit(0);
}

static void stop_seldom(void)
{
	static unsigned long made;

	is_stopped = ++made % SELDOM == 0;
	if (is_stopped)
		tprof_stop();
}

static void stops(void)
{
	for (unsigned long i = 0; i < calls; i++) {
		tiny_call(stop_seldom);
		if (!is_stopped)
			continue;
		for (int k = 0; k < FEW; k++)
			tiny_call(nothing);
		tiny_call(tprof_start);
	}
}

static void write_truth(unsigned long saxpy, unsigned long fortran, unsigned long long elements)
{
	const char *name = getenv("TRUTH_FILE");
	FILE *file = name ? fopen(name, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "{\"cblas_saxpy\": %lu, \"saxpy\": %lu, \"elements\": %llu}\n", saxpy, fortran, elements);
	fclose(file);
}

static float *vector(int n)
{
	float *v = calloc((size_t)n, sizeof(*v));

	if (!v)
		abort();
	return v;
}

static void plain(void)
{
	float *x = vector(length), *y = vector(length);

	for (unsigned long i = 0; i < calls; i++)
		cblas_saxpy(length, 0.5f, x, 1, y, 1);
}

static void *plain_thread(void *unused)
{
	plain();
	return unused;
}

static void lengths(void)
{
	float *x = vector(length), *y = vector(length), alpha = 0.5f;
	unsigned long long elements = 0;
	unsigned long fortran = 0;
	int n = 0, one = 1;

	for (unsigned long i = 0; i < calls; i++) {
		n = n % length + 1;
		if (i % 2) {
			saxpy_(&n, &alpha, x, &one, y, &one);
			fortran++;
		} else {
			cblas_saxpy(n, alpha, x, 1, y, 1);
			elements += (unsigned long long)n;
		}
	}
	write_truth(calls - fortran, fortran, elements);
}

static void slow(void)
{
	float *x = vector(length * LONG_TIMES), *y = vector(length * LONG_TIMES);

	for (unsigned long i = 1; i <= calls; i++)
		cblas_saxpy(i % LONG_EVERY ? length : length * LONG_TIMES, 0.5f, x, 1, y, 1);
}

static void allocate(void)
{
	float *x = vector(length);

	if (!strcmp(how, "rarely"))
		tiny_leak_every = RARELY;
	for (unsigned long i = 0; i < calls; i++)
		cblas_sscal(length, 1.0f, x, 1);
}

static void nested(void)
{
	float *a = vector(length * 10), *x = vector(10), *y = vector(length);

	for (unsigned long i = 0; i < calls / (unsigned long)length; i++)
		cblas_sgemv(101, 111, length, 10, 1.0f, a, 10, x, 1, 0.0f, y, 1);
}

static void *small_thread(void *unused)
{
	float *x = vector(length);

	for (unsigned long i = 0; i < calls; i++) {
		cblas_sscal(length, 1.0f, x, 1);
		tiny_call(nothing);
	}
	return unused;
}

static void small(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) ||
	    pthread_create(&thread, &attributes, small_thread, NULL))
		abort();
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	pthread_t other = 0;

	if (argc < 4)
		return 2;
	how = argv[1];
	calls = strtoul(argv[2], NULL, 10);
	length = atoi(argv[3]);
	if (!strcmp(how, "threads") && pthread_create(&other, NULL, plain_thread, NULL))
		return 1;
	if (!strcmp(how, "lengths"))
		lengths();
	else if (!strcmp(how, "allocate") || !strcmp(how, "rarely"))
		allocate();
	else if (!strcmp(how, "nested"))
		nested();
	else if (!strcmp(how, "jumps"))
		jumps();
	else if (!strcmp(how, "exits") || !strcmp(how, "waits"))
		exits();
	else if (!strcmp(how, "small"))
		small();
	else if (!strcmp(how, "forks"))
		forks();
	else if (!strcmp(how, "stops"))
		stops();
	else if (!strcmp(how, "slow"))
		slow();
	else
		plain();
	if (!strcmp(how, "threads"))
		pthread_join(other, NULL);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	puts("hot: done");
	return 0;
}
