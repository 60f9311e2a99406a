/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that a program has of its own, for tests/bench/pairs.c: free lists of sizes up to 640 bytes, for one thread. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define STEP 64u
#define CLASSES 10u
#define AT_ONCE (1u << 20) /* bytes */

void *bench_own_malloc(size_t size);
void bench_own_free(void *block);

struct head { /* before each block */
	struct head *next;
	uint64_t class;
};

static struct head *lists[CLASSES];
static char *fresh, *end;

static __attribute__((noinline)) struct head *take(size_t bytes)
{
	struct head *taken;

	if ((size_t)(end - fresh) < bytes) {
		fresh = malloc(AT_ONCE);
		if (!fresh)
			abort();
		end = fresh + AT_ONCE;
	}
	taken = (struct head *)(void *)fresh;
	fresh += bytes;
	return taken;
}

__attribute__((noinline)) void *bench_own_malloc(size_t size)
{
	uint64_t class = (size - 1) / STEP;
	struct head *head;

	if (class >= CLASSES)
		abort();
	head = lists[class];
	if (head)
		lists[class] = head->next;
	else
		head = take(sizeof(*head) + (class + 1) * STEP);
	head->class = class;
	return head + 1;
}

__attribute__((noinline)) void bench_own_free(void *block)
{
	struct head *head = block;

	if (!head)
		return;
	head--;
	head->next = lists[head->class];
	lists[head->class] = head;
}
