/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batches HOW COUNT: COUNT allocations and as many frees, each of which takes room in the trace, then
 *   exit     ends
 *   kill     is killed
 *   fork     forks; parent and child do the same again, and end
 *   again    ends by a failed exec, does the same again, and ends
 *   threads  COUNT threads, one after the other, of ten allocations each
 *   together COUNT threads at once, of ten allocations each
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(long count)
{
	for (long i = 0; i < count; i++) {
		void *volatile block = malloc((size_t)(i % 1000) + 1);

		free(block);
	}
}

static pthread_barrier_t all;

static void *run(void *together)
{
	work(10);
	if (together)
		pthread_barrier_wait(&all);
	return NULL;
}

static void short_threads(long count, int together)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));

	pthread_barrier_init(&all, NULL, (unsigned int)count);
	for (long i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, run, together ? &all : NULL))
			exit(1);
		if (!together)
			pthread_join(threads[i], NULL);
	}
	for (long i = 0; together && i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	long count = argc > 2 ? atol(argv[2]) : 0;
	pid_t child = 0;

	if (!strcmp(how, "threads") || !strcmp(how, "together")) {
		short_threads(count, !strcmp(how, "together"));
		return 0;
	}
	work(count);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "fork"))
		child = fork();
	if (!strcmp(how, "again"))
		execl("/nowhere", "nowhere", (char *)NULL);
	if (!strcmp(how, "fork") || !strcmp(how, "again"))
		work(count);
	return child > 0 && waitpid(child, NULL, 0) != child;
}
