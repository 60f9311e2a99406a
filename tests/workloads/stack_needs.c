/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_needs TIMES: how much of the stack it is called on a function uses, at most: each is called on TIMES stacks that are
 * made for it and painted before. Prints "malloc BYTES", "mmap BYTES" (each with what undoes it) and "op BYTES".
 */
#include "bindings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { SIZE = 65536, PAINT = 0xa5 };

static ucontext_t back, own;
static void (*volatile function)(void);
static const char *began_at;

static void use_malloc(void)
{
	void *volatile block = malloc(100);

	free(block);
}

static void use_mmap(void)
{
	void *volatile pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages, 4096);
}

static void use_op(void)
{
	bind_call();
}

static void body(void)
{
	char here;

	began_at = &here;
	function();
	swapcontext(&own, &back);
}

static size_t used(void)
{
	unsigned char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ucontext_t context;
	size_t left = 0, bytes;

	memset(stack, PAINT, SIZE);
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = SIZE;
	context.uc_link = NULL;
	makecontext(&context, body, 0);
	swapcontext(&back, &context);
	while (left < SIZE && stack[left] == PAINT)
		left++;
	bytes = (size_t)(began_at - (const char *)stack) - left;
	munmap(stack, SIZE);
	return bytes;
}

static void show(const char *name, void (*what)(void), long times)
{
	size_t most = 0;

	function = what;
	for (long i = 0; i < times; i++) {
		size_t bytes = used();

		most = bytes > most ? bytes : most;
	}
	printf("%s %zu\n", name, most);
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 1;

	show("malloc", use_malloc, times);
	show("mmap", use_mmap, times);
	show("op", use_op, times);
	return 0;
}
