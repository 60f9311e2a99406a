/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extremes threads N: N threads, one after the other. extremes stacks BITS: 2^BITS allocations, each with a stack of its own.
 * extremes deep N: an allocation below N frames. extremes names N: names of N bytes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tprof.h>

static void *volatile kept;

static void check(int bad)
{
	if (bad)
		abort();
}

static void allocate(void)
{
	void *block = malloc(16);

	check(!block);
	kept = block;
	free(kept);
}

static void *work(void *unused)
{
	tprof_op_begin("work", "");
	allocate();
	tprof_op_end();
	return unused;
}

static void threads(long count)
{
	pthread_t thread;

	for (long i = 0; i < count; i++) {
		check(pthread_create(&thread, NULL, work, NULL));
		check(pthread_join(thread, NULL));
	}
}

static void walk(int bits);

__attribute__((noinline)) static void left(int bits)
{
	walk(bits);
	__asm__ volatile("");
}

__attribute__((noinline)) static void right(int bits)
{
	walk(bits);
	__asm__ volatile("");
}

__attribute__((noinline)) static void walk(int bits)
{
	if (!bits) {
		allocate();
		return;
	}
	left(bits - 1);
	right(bits - 1);
}

__attribute__((noinline)) static void deep(long frames)
{
	if (frames)
		deep(frames - 1);
	else
		allocate();
	__asm__ volatile("");
}

static void names(long length)
{
	char *name = malloc((size_t)length + 1);

	check(!name);
	memset(name, 'n', (size_t)length);
	name[length] = '\0';
	for (int i = 0; i < 5; i++) {
		tprof_op_begin(name, name);
		tprof_op_detail(name, 1, 1);
		allocate();
		tprof_op_end();
		tprof_mark(name);
		tprof_step(1);
	}
	tprof_thread_name(name);
	tprof_value(name, 1);
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;

	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "threads") == 0)
		threads(count);
	else if (strcmp(argv[1], "stacks") == 0)
		walk((int)count);
	else if (strcmp(argv[1], "deep") == 0)
		deep(count);
	else if (strcmp(argv[1], "names") == 0)
		names(count);
	else
		return 2;
	return 0;
}
