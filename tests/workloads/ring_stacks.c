/* SPDX-License-Identifier: Apache-2.0 */
/* ring_stacks CALLS: allocates and frees below stacks of 40 frames that are drawn at random, so that each is new. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 40

static uint32_t state = 1;

static uint32_t draw(void)
{
	state = state * 1103515245u + 12345u;
	return state >> 16;
}

static void go(int depth);

#define WAY(name)                                                                                                      \
	static __attribute__((noinline)) void name(int depth)                                                          \
	{                                                                                                              \
		go(depth);                                                                                             \
		__asm__ volatile("");                                                                                  \
	}
WAY(way0)
WAY(way1)
WAY(way2)
WAY(way3)
WAY(way4)
WAY(way5)
WAY(way6)
WAY(way7)

static __attribute__((noinline)) void go(int depth)
{
	static void (*const ways[])(int) = { way0, way1, way2, way3, way4, way5, way6, way7 };

	if (depth)
		ways[draw() % 8](depth - 1);
	else
		free(malloc(100));
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < calls; i++)
		go(DEPTH / 2);
	return printf("%ld\n", calls) < 0;
}
