/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coroutines HOW: stacks that a program makes itself, by makecontext, and takes away again.
 *   shrunk  a stack whose upper part is given back, and that is then used as a smaller one
 *   pool    thousands of stacks of many sizes, mapped and unmapped, at addresses that are used again
 *   small   a stack of two pages behind a guard page, on which most of a CPU sampler's signals come
 * What was remembered of a stack that is gone must not be read, and each allocation has its frames.
 */
#include "truth.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define PAGE 4096u
#define SLOTS 16

static struct truth truth;
static ucontext_t scheduler;

static void *allocate(size_t size)
{
	void *p = malloc(size);

	truth_alloc(&truth, size);
	return p;
}

static void release(void *p, size_t size)
{
	truth_free(&truth, size);
	free(p);
}

static void *map(size_t length, int protection)
{
	void *p = mmap(NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		truth_die("mmap");
	return p;
}

static void start(ucontext_t *context, void *stack, size_t size, void (*entry)(void))
{
	if (getcontext(context))
		truth_die("getcontext");
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = size;
	context->uc_link = &scheduler;
	makecontext(context, entry, 0);
	swapcontext(&scheduler, context);
}

/* ---- a stack that loses its upper part ---- */

static uintptr_t depth_wanted;

static __attribute__((noinline)) void few_blocks(void)
{
	for (size_t i = 0; i < 4; i++)
		release(allocate(1000 + i), 1000 + i);
}

/* Down to the same address in both stacks: there the walks begin alike. */
static __attribute__((noinline)) void go_down(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	volatile char *room = __builtin_alloca((here - depth_wanted) & ~(uintptr_t)15);

	room[0] = 1;
	few_blocks();
	room[1] = 1;
}

static void shrunk(void)
{
	char *region = map(1 << 20, PROT_NONE), *stack = region + 65536;
	ucontext_t context;
	void *block;

	depth_wanted = (uintptr_t)stack + 65536 - 12288;
	if (mprotect(stack, 98304, PROT_READ | PROT_WRITE))
		truth_die("mprotect");
	start(&context, stack, 98304, go_down);
	block = allocate(5);
	if (mprotect(stack + 65536, 32768, PROT_NONE))
		truth_die("mprotect");
	start(&context, stack, 65536, go_down);
	release(block, 5);
	munmap(region, 1 << 20);
}

/* ---- many stacks ---- */

struct coroutine {
	ucontext_t context;
	char *stack;
	size_t size;
	int ended;
};

static struct coroutine coroutines[SLOTS], *current;

/* depth + 1 frames, whatever the optimiser would like. */
static __attribute__((noinline)) void descend(size_t depth, size_t size)
{
	volatile char frame[64];

	frame[0] = (char)depth;
	if (depth)
		descend(depth - 1, size);
	else
		allocate(size); /* for good: its stack is looked at */
	frame[1] = frame[0];
}

static void generator(void)
{
	for (size_t i = 0; i < 3; i++) {
		descend(5, 3000 + i);
		swapcontext(&current->context, &scheduler);
	}
	current->ended = 1;
	swapcontext(&current->context, &scheduler);
}

static void resume(struct coroutine *coroutine, uint64_t *random)
{
	current = coroutine;
	if (coroutine->stack) {
		swapcontext(&scheduler, &coroutine->context);
	} else {
		coroutine->ended = 0;
		coroutine->size = PAGE * truth_between(random, 6, 11);
		coroutine->stack = map(coroutine->size, PROT_READ | PROT_WRITE);
		if (mprotect(coroutine->stack, PAGE, PROT_NONE))
			truth_die("mprotect");
		start(&coroutine->context, coroutine->stack + PAGE, coroutine->size - PAGE, generator);
	}
	if (coroutine->ended) {
		munmap(coroutine->stack, coroutine->size);
		coroutine->stack = NULL;
	}
}

static void pool(void)
{
	uint64_t random = 7;

	for (int i = 0; i < 20000; i++) {
		resume(&coroutines[truth_between(&random, 0, SLOTS - 1)], &random);
		descend(2, 4000);
	}
}

/* ---- a small stack ---- */

static void burn(void)
{
	static volatile unsigned int sum;
	struct timespec now, begin;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (unsigned int i = 0; i < 20000; i++)
			sum += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 200);
}

static void burn_with_little_left(void)
{
	volatile char frame[3000];

	frame[0] = 1;
	burn();
	few_blocks();
	frame[1] = frame[0];
}

static void small(void)
{
	ucontext_t context;
	char *region = map((size_t)3 * PAGE, PROT_READ | PROT_WRITE);

	if (mprotect(region, PAGE, PROT_NONE))
		truth_die("mprotect");
	start(&context, region + PAGE, (size_t)2 * PAGE, burn_with_little_left);
	munmap(region, (size_t)3 * PAGE);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "shrunk"))
		shrunk();
	else if (!strcmp(how, "pool"))
		pool();
	else if (!strcmp(how, "small"))
		small();
	else
		truth_die("usage: coroutines HOW");
	truth_write(&truth);
	TRUTH_SAY("coroutines: done\n");
	return 0;
}
