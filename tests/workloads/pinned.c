/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small blocks that stay keep free memory around them from use. pinned MODE keep|drop [trim]: with "drop" the small blocks go, too,
 * and the difference in RSS is what they kept.
 *
 *   heap    in each round two buffers, larger than those of all rounds before, are filled and then shrunk to fit a short text, so
 *           that what lies between the two texts is too small for the next round (of libc's main heap)
 *   arena   the same in four threads, each of which has an arena of its own; where nothing lies below an arena, something is mapped
 *           there, so that the kernel tells both as one region
 *   slabs   of many blocks of 256 bytes, all alive at once, every 16th stays
 *
 * Ends with "rss KIB" on standard output; with "trim", malloc_trim() comes before.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ROUNDS 600
#define LARGE 60000
#define SMALL 48
#define BLOCKS 200000
#define THREADS 4
#define ARENA (64 << 20) /* arenas of threads begin at multiples of it (glibc's malloc/arena.c: HEAP_MAX_SIZE) */
#define BELOW (1 << 20)

static void *kept[THREADS][2 * ROUNDS], *blocks[BLOCKS];
static int keep;

/* So that the collector reads what memory is made of now and then. */
static void rest(void)
{
	nanosleep(&(struct timespec){ 0, 3000000 }, NULL);
}

__attribute__((noinline)) static void *shrink_to_fit(char *buffer)
{
	return realloc(buffer, SMALL);
}

static char *filled(size_t size)
{
	char *buffer = malloc(size);

	memset(buffer, 1, size);
	return buffer;
}

static void *rounds(void *list)
{
	void **texts = list;

	for (int i = 0; i < ROUNDS; i++) {
		size_t size = LARGE + 64 * (size_t)i;
		char *first = filled(size), *second = filled(size);

		texts[2 * i] = shrink_to_fit(first);
		texts[2 * i + 1] = shrink_to_fit(second);
		if (!keep) {
			free(texts[2 * i]);
			free(texts[2 * i + 1]);
		}
		rest();
	}
	return NULL;
}

static void *rounds_in_arena(void *list)
{
	char *first = malloc(1), *arena = first - (uintptr_t)first % ARENA;

	(void)mmap(arena - BELOW, BELOW, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	free(first);
	return rounds(list);
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, rounds_in_arena, kept[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

__attribute__((noinline)) static void *one_of_many(void)
{
	char *block = malloc(256);

	memset(block, 1, 256);
	return block;
}

static void slabs(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = one_of_many();
	for (int i = 0; i < BLOCKS; i++)
		if (i % 16 || !keep)
			free(blocks[i]);
	for (int i = 0; i < 200; i++)
		rest();
}

static long rss_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[200];
	long kib = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (status)
		fclose(status);
	return kib;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "heap";

	keep = argc > 2 && strcmp(argv[2], "keep") == 0;
	if (strcmp(mode, "heap") == 0)
		rounds(kept[0]);
	else if (strcmp(mode, "arena") == 0)
		in_threads();
	else
		slabs();
	if (argc > 3)
		malloc_trim(0);
	printf("rss %ld\n", rss_kib());
	return 0;
}
