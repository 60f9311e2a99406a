/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows [fork|thread|start]: calls a function of ten arguments from frames at every place of three pages, so that the arguments on
 * the stack lie across a page's end, too; in this process, in a child, or in a thread that does nothing else; or after recording
 * was started. Says how many results were wrong.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <tprof.h>
#include <unistd.h>

#include "signatures.h"

enum { PLACES = 3 * 4096, STEP = 16 };

static long right;

static __attribute__((noinline)) int call_below(size_t bytes)
{
	volatile char *room = alloca(bytes);

	room[0] = 1;
	return op_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) != right;
}

static void *call_everywhere(void *wrong)
{
	for (size_t place = STEP; place <= PLACES; place += STEP)
		*(int *)wrong += call_below(place);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	int wrong = 0;

	right = op_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	if (strcmp(how, "fork") == 0) {
		pid_t pid = fork();

		if (pid > 0)
			return waitpid(pid, NULL, 0) != pid;
	}
	if (strcmp(how, "start") == 0)
		tprof_start();
	if (strcmp(how, "thread") == 0) {
		pthread_create(&thread, NULL, call_everywhere, &wrong);
		pthread_join(thread, NULL);
	} else {
		call_everywhere(&wrong);
	}
	printf("wrong %d\n", wrong);
	return wrong != 0;
}
