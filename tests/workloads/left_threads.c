/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_threads TIMES: each thread ends by pthread_exit within an annotated op, which is within a hooked function (qsort), which is
 * within another annotated op. Built with -finstrument-functions, the functions are ops too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tprof.h>

static int leave(const void *a, const void *b)
{
	(void)a;
	(void)b;
	tprof_op_begin("inner", NULL);
	pthread_exit(NULL);
}

static void *run(void *unused)
{
	int values[2] = { 1, 2 };

	tprof_op_begin("outer", NULL);
	qsort(values, 2, sizeof(*values), leave);
	tprof_op_end();
	return unused;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < times; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	puts("left");
	return 0;
}
