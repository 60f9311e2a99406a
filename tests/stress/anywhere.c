/* SPDX-License-Identifier: Apache-2.0 */
/*
 * anywhere MILLISECONDS: computes in frames of every kind without allocating, so that nearly all samples begin in it: in
 * prologues and epilogues, leaves, alloca and VLA frames, realigned stacks, callbacks from libc, stubs of the PLT, string
 * functions written in assembly, the vDSO.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALL __attribute__((noinline))

static volatile uint64_t sum;

static CALL uint64_t leaf(uint64_t n)
{
	return n * UINT64_C(0x9e3779b97f4a7c15) ^ n >> 29;
}

static CALL uint64_t many_arguments(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
				    uint64_t h)
{
	return leaf(a + h) + leaf(b ^ g) + leaf(c * f) + leaf(d - e);
}

static CALL uint64_t recurse(unsigned int depth, uint64_t n)
{
	volatile uint64_t kept = n;

	return depth ? recurse(depth - 1, leaf(n)) + kept : many_arguments(n, 1, 2, 3, 4, 5, 6, 7);
}

static CALL uint64_t with_alloca(size_t size)
{
	unsigned char *room = alloca(size);

	memset(room, (int)size, size);
	return recurse(3, room[size / 2]);
}

static CALL uint64_t with_vla(size_t size)
{
	unsigned char room[size];

	memset(room, (int)size, size);
	return leaf(room[size - 1]) + strnlen((char *)room, size);
}

static CALL uint64_t realigned(uint64_t n)
{
	uint64_t room[8] __attribute__((aligned(64)));

	for (size_t i = 0; i < 8; i++)
		((volatile uint64_t *)room)[i] = leaf(n + i);
	return recurse(2, room[n % 8]);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	sum += leaf(x) & 1;
	return (x > y) - (x < y);
}

static CALL uint64_t callbacks(uint64_t n)
{
	uint32_t numbers[16], key; /* few enough for qsort to allocate nothing */

	for (size_t i = 0; i < 16; i++)
		numbers[i] = (uint32_t)leaf(n + i);
	qsort(numbers, 16, sizeof(numbers[0]), compare);
	key = numbers[n % 16];
	return bsearch(&key, numbers, 16, sizeof(key), compare) != NULL;
}

/* A tail call where the compiler makes one: this frame is gone by then. */
static CALL uint64_t tail(uint64_t n)
{
	return recurse(4, n ^ 1);
}

static CALL uint64_t libc(uint64_t n)
{
	char text[64], copy[64];
	char *end;

	memset(text, 'a' + (int)(n % 26), sizeof(text) - 1);
	text[63] = 0;
	memcpy(copy, text, sizeof(text));
	return strlen(copy) + (uint64_t)strcmp(text, copy) + strtoul("123456789", &end, 10) + (uint64_t)getpid() * 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100) * 1000000u;
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin < wanted) {
		for (uint64_t n = 0; n < 50; n++) {
			sum += with_alloca(16 + n * 8) + with_vla(16 + n * 8) + realigned(n) + callbacks(n) + tail(n) +
			       libc(n);
			sum += now_ns(CLOCK_MONOTONIC) & 1;
		}
	}
	puts("anywhere: done");
	return 0;
}
