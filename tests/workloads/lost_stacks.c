/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_stacks WAY: blocks whose only pointers lie where nothing uses them any more.
 * main: main() loses three and returns. joined: six threads that live together lose one each, end, and are joined; detached:
 * are not. result: three that were not joined have returned one each, which can still be had. waiting: a thread and main() lose
 * three each, and the thread waits; it holds one on its stack.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "asleep.h"

#define THREADS 6
#define NOINLINE __attribute__((noinline))

static pthread_barrier_t together;

/* Its address is left on the stack, below the red zone of the next call. */
NOINLINE static void lose(size_t size)
{
	void *volatile words[512];
	char *block = malloc(size);

	memset(block, 3, size);
	for (size_t i = 0; i < 512; i++)
		words[i] = i < 384 ? block : NULL;
	block = NULL;
	(void)words[7];
}

NOINLINE static void *give(size_t size)
{
	return memset(malloc(size), 3, size);
}

static void *lose_and_end(void *way)
{
	lose(10000);
	pthread_barrier_wait(&together);
	return way ? give(2000) : NULL;
}

static void start(void *way, int count, pthread_t *threads)
{
	pthread_barrier_init(&together, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, lose_and_end, way) != 0)
			exit(2);
}

/* By the kernel's word. */
static void wait_until_alone(void)
{
	int count;

	do {
		DIR *tasks = opendir("/proc/self/task");

		count = 0;
		while (tasks && readdir(tasks))
			count++;
		if (tasks)
			closedir(tasks);
		usleep(1000);
	} while (count != 3);
}

static void *lose_and_wait(void *unused)
{
	void *volatile held = give(3000);

	for (int i = 0; i < 3; i++)
		lose(4000);
	pause();
	return unused ? held : NULL;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	pthread_t threads[THREADS];

	if (strcmp(way, "main") == 0) {
		for (int i = 0; i < 3; i++)
			lose(5000);
		return 0;
	}
	if (strcmp(way, "waiting") == 0) {
		pthread_create(threads, NULL, lose_and_wait, NULL);
		wait_until_others_sleep();
		exit(0);
	}
	start(strcmp(way, "result") == 0 ? argv : NULL, strcmp(way, "result") == 0 ? 3 : THREADS, threads);
	for (int i = 0; i < THREADS && strcmp(way, "joined") == 0; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS && strcmp(way, "detached") == 0; i++)
		pthread_detach(threads[i]);
	wait_until_alone();
	exit(0);
}
