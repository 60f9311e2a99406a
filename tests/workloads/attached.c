/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached [THREADS]: does what single letters of its standard input say, and answers each with a line. a: keeps ten more
 * blocks of 1,000 B. f: frees the five oldest. c: a thread in each of THREADS churns until the next c, the first ones without a break. q: ends.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

#define BLOCKS 4096
#define THREADS_MAX 600
#define BUSY 8 /* threads; the others sleep most of the time */

static char *blocks[BLOCKS];
static size_t first, count;
static pthread_t threads[THREADS_MAX];
static int churning;

__attribute__((noinline)) static void keep(void)
{
	for (int i = 0; i < 10 && count < BLOCKS; i++) {
		blocks[count] = malloc(1000);
		if (!blocks[count])
			truth_die("malloc");
		memset(blocks[count++], 1, 1000);
	}
}

static void *churn(void *argument)
{
	unsigned int random = (unsigned int)(uintptr_t)argument;
	uint64_t sum = 0;

	while (__atomic_load_n(&churning, __ATOMIC_RELAXED)) {
		size_t size = 1 + (size_t)rand_r(&random) % 500;
		unsigned char *p = malloc(size);

		if (!p)
			truth_die("malloc");
		memset(p, 7, size);
		sum += p[size - 1] == 7;
		free(p);
		if (((char **)argument - blocks) >= BUSY && sum % 100 == 0)
			usleep(20000);
	}
	return (void *)(uintptr_t)sum; // NOLINT(performance-no-int-to-ptr)
}

static void switch_churning(int number)
{
	churning = !churning;
	for (int i = 0; i < number; i++) {
		if (churning ? pthread_create(&threads[i], NULL, churn, &blocks[i]) : pthread_join(threads[i], NULL))
			truth_die("thread");
	}
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 1;
	char letter;

	while (read(0, &letter, 1) == 1 && letter != 'q') {
		if (letter == 'a')
			keep();
		for (int i = 0; letter == 'f' && i < 5 && first < count; i++)
			free(blocks[first++]);
		if (letter == 'c')
			switch_churning(number < THREADS_MAX ? number : THREADS_MAX);
		if (write(1, ".\n", 2) != 2)
			truth_die("write");
	}
	return 0;
}
