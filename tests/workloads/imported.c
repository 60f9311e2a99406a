/* SPDX-License-Identifier: Apache-2.0 */
/*
 * imported: for profilers other than tprof. Keeps some blocks, frees others, and allocates from inlined and recursive functions, so that
 * each of their reports has several stacks, a peak before the end, and memory that is left.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT 1000

static void *kept[KEPT];

__attribute__((noinline)) static void *take(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

__attribute__((always_inline)) static inline void *take_inlined(size_t size)
{
	return take(size);
}

__attribute__((noinline)) static void *keep(size_t size)
{
	void *volatile block = take_inlined(size);

	return block;
}

__attribute__((noinline)) static void recurse(int depth)
{
	void *volatile block;

	if (depth > 0) {
		recurse(depth - 1);
		return;
	}
	block = take(100);
	free(block);
}

__attribute__((noinline)) static void *grow(void *block, size_t size)
{
	void *volatile grown = realloc(block, size);

	return grown;
}

int main(void)
{
	void *block = NULL;

	for (int i = 0; i < KEPT; i++) {
		kept[i] = keep(1000 + (size_t)i);
		recurse(i % 5);
		if (i % 250 == 0)
			usleep(20000);
	}
	for (size_t size = 1; size < 300000; size *= 3)
		block = grow(block, size);
	for (int i = 0; i < 900; i++)
		free(kept[i]);
	grow(block, 5000);
	return 0;
}
