/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stops ROUNDS: a training loop that stops itself (SIGSTOP) after each step, so that whoever waits for it can copy its
 * trace at a moment at which nothing is written. Each step allocates from stacks that were not seen before, keeps one block
 * in three, maps memory, and now and then starts a thread that ends before the stop.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <tprof.h>

#include "truth.h"

static void *volatile kept[3000];
static size_t count;

/* Which way it goes at each level makes the stack. */
__attribute__((noinline)) static void *left(unsigned way, unsigned depth, size_t size);

__attribute__((noinline)) static void *right(unsigned way, unsigned depth, size_t size)
{
	void *block = depth ? (way & 1 ? left : right)(way >> 1, depth - 1, size) : malloc(size);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return block;
}

static void *left(unsigned way, unsigned depth, size_t size)
{
	void *block = depth ? (way & 1 ? left : right)(way >> 1, depth - 1, size) : calloc(1, size);

	__asm__ volatile("" ::: "memory");
	return block;
}

static void *work(void *step)
{
	for (unsigned i = 0; i < 20; i++) {
		void *block = right((unsigned)(uintptr_t)step * 20 + i, 12, 100 + i);

		if (i % 3 == 0)
			kept[count++] = block;
		else
			free(block);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	for (unsigned i = 0; i < rounds; i++) {
		pthread_t thread;

		work((void *)(uintptr_t)i);
		if (i % 7 == 3 &&
		    (pthread_create(&thread, NULL, work, (void *)(uintptr_t)(i + 1000)) || pthread_join(thread, NULL)))
			truth_die("thread");
		if (mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			truth_die("mmap");
		tprof_step(1);
		raise(SIGSTOP);
	}
	return 0;
}
