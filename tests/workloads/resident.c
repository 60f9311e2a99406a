/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resident THREADS PATHS FRAMES: each thread allocates and frees over so many distinct stacks, several times, and stays
 * while the others do. Prints the bytes of memory of its own that the process has then, files apart (RssAnon).
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 3

static int paths, frames;
static pthread_barrier_t done, over;

/* Distinct calls: each way down is a distinct return address. */
#define WAY(n)                                                                                                         \
	case n:                                                                                                        \
		descend(path, depth - 1);                                                                              \
		__asm__ volatile("" ::"i"(n));                                                                         \
		break

/* An octal digit of the path a frame, the innermost ones. */
static __attribute__((noinline)) void descend(unsigned int path, int depth)
{
	if (depth == 0) {
		free(malloc(32));
		return;
	}
	switch (path >> 3 * (depth - 1 < 8 ? depth - 1 : 8) & 7) {
		WAY(0);
		WAY(1);
		WAY(2);
		WAY(3);
		WAY(4);
		WAY(5);
		WAY(6);
		WAY(7);
	}
}

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		for (int path = 0; path < paths; path++)
			descend((unsigned int)path, frames);
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&over);
	return NULL;
}

static unsigned long own_memory(void)
{
	char line[256];
	unsigned long kilobytes = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "RssAnon: %lu", &kilobytes) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int count;

	if (argc != 4 || (count = atoi(argv[1])) < 1 || count > 64) {
		fprintf(stderr, "usage: resident THREADS(1-64) PATHS FRAMES\n");
		return 2;
	}
	paths = atoi(argv[2]);
	frames = atoi(argv[3]);
	pthread_barrier_init(&done, NULL, (unsigned int)count + 1);
	pthread_barrier_init(&over, NULL, (unsigned int)count + 1);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_barrier_wait(&done);
	printf("{\"own\": %lu}\n", own_memory());
	pthread_barrier_wait(&over);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
