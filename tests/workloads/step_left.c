/* SPDX-License-Identifier: Apache-2.0 */
/* step_left N: N calls of tiny_call(), each left by a longjmp from what it calls; and one that pthread_exit() leaves. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "tinyblas.h"

static jmp_buf back;

static void leave(void)
{
	longjmp(back, 1);
}

static void leave_thread(void)
{
	pthread_exit(NULL);
}

static void *run(void *unused)
{
	tiny_call(leave_thread);
	return unused;
}

int main(int argc, char **argv)
{
	float x[4] = { 1, 2, 3, 4 };
	volatile int times = argc > 1 ? atoi(argv[1]) : 1, i;
	pthread_t thread;

	for (i = 0; i < times; i++) {
		if (!setjmp(back))
			tiny_call(leave);
		cblas_sdot(4, x, 1, x, 1);
	}
	if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
		return 1;
	printf("step_left: %d\n", i);
	return 0;
}
