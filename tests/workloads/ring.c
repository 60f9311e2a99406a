/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring FILE THREADS CALLS [PAUSE_US [EVERY]]: each thread keeps 100 blocks of random sizes, and exchanges one after the other. What
 * make() returned and what was freed is counted in FILE, which is mapped, so that the counts stay when the program is killed. After
 * each EVERY calls a thread sleeps.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS 100
#define THREADS 64

struct count {
	volatile uint64_t made, freed, bytes, pad[5];
};

static struct count *counts;
static uint64_t calls;
static unsigned pause_us, every = 1;

static __attribute__((noinline)) void *make(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("" ::"r"(block) : "memory"); /* no tail call */
	return block;
}

static void *run(void *context)
{
	struct count *count = context;
	uint32_t random = (uint32_t)(count - counts) * 77 + 1;
	void *slots[SLOTS] = { 0 };

	for (uint64_t i = 0; i < calls; i++) {
		void **slot = &slots[(random = random * 1103515245u + 12345u) >> 8 & 0x3f];
		size_t size = 16 + (random >> 16) % 500;

		if (*slot) {
			free(*slot);
			count->freed++;
		}
		*slot = make(size);
		count->bytes += size;
		count->made++;
		if (pause_us && i % every == 0)
			usleep(pause_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[2]) : 0,
	    fd = argc > 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
	pthread_t started[THREADS];

	if (threads < 1 || threads > THREADS || fd < 0 || ftruncate(fd, THREADS * sizeof(*counts)) < 0)
		return 2;
	calls = strtoull(argv[3], NULL, 10);
	pause_us = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	every = argc > 5 ? (unsigned)atoi(argv[5]) : 1;
	counts = mmap(NULL, THREADS * sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 2;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&started[i], NULL, run, &counts[i]) != 0)
			return 2;
	for (int i = 0; i < threads; i++)
		pthread_join(started[i], NULL);
	return puts("done") < 0;
}
