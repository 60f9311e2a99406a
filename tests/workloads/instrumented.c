/* SPDX-License-Identifier: Apache-2.0 */
/* Built with -finstrument-functions: every function says that it begins and ends. `instrumented N [fork]`: in a child as well. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer.h"

static jmp_buf back;
static void *volatile sink;

static void leaf(void)
{
	void *block = malloc(100);

	sink = block;
	free(block);
}

static int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void jumps(int depth) /* to the bottom, and all the way out */
{
	if (depth == 0)
		longjmp(back, 1);
	if (depth > 0)
		jumps(depth - 1);
}

static void guarded(void)
{
	if (setjmp(back) == 0)
		jumps(2);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, sum = 0;

	if (argc > 2 && fork() != 0)
		wait(NULL);
	for (int i = 0; i < times; i++) {
		leaf();
		sum += fibonacci(5);
		guarded();
	}
	printf("%d, %d %d\n", sum, tracer_enters(), tracer_exits());
	return 0;
}
