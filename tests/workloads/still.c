/* SPDX-License-Identifier: Apache-2.0 */
/*
 * still: holds 64 MiB and sleeps, then touches LEVELS times 1 MiB more, with time for a sample after each. Says how long the
 * sleep was, in ns, and how many levels there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEVELS 20
#define MIB (1 << 20)

static long long now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void event(void)
{
	void *volatile block = malloc(100);

	free(block);
}

/* An event each millisecond, and one at the end: samples are taken with events. */
static void idle(long long ns)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	long long begin = now();

	while (now() - begin < ns) {
		event();
		nanosleep(&pause, NULL);
	}
	event();
}

static void touch(char *at, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)at)[i] = 1;
}

int main(void)
{
	char *held = malloc(64 * MIB), *more = malloc(LEVELS * MIB);
	long long begin;

	if (!held || !more)
		return 1;
	touch(held, 64 * MIB);
	begin = now();
	idle(1000000000);
	printf("%lld %d\n", now() - begin, LEVELS);
	for (int i = 0; i < LEVELS; i++) {
		touch(more + i * MIB, MIB);
		idle(25000000);
	}
	free(more);
	free(held);
	return 0;
}
