/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_handlers N: N times a signal handler, on a stack of its own, leaves the op that it called by siglongjmp; then
 * cblas_sdot is called on the program's own stack.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tinyblas.h"

static sigjmp_buf back;

static void leave(void)
{
	siglongjmp(back, 1);
}

static void handler(int number)
{
	(void)number;
	tiny_call(leave);
}

static void enter_handler(void)
{
	if (!sigsetjmp(back, 1))
		raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	int times = argc > 1 ? atoi(argv[1]) : 1;
	float x[2] = { 1, 2 }, sum = 0;

	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		return 1;
	for (int i = 0; i < times; i++) {
		enter_handler();
		sum += cblas_sdot(2, x, 1, x, 1);
	}
	printf("%.0f\n", (double)sum);
	return 0;
}
