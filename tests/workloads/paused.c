/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paused PAIRS KEPT: KEPT blocks are allocated, recording is paused, PAIRS blocks of as many sizes as a pool has places come and
 * go, and the kept ones are freed at the end of it. pairs() is what callgrind counts.
 *
 * paused race ROUNDS: threads hand blocks to each other while recording is switched off and on again so often; all are freed.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <tprof.h>

#include "truth.h"

enum { POOL = 64, KEPT_MAX = 10000, THREADS = 4 };

static void *kept[KEPT_MAX], *pool[POOL];
static int ended;

void pairs(size_t count);

__attribute__((noinline)) void pairs(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pool[i % POOL]);
		pool[i % POOL] = malloc(16 * (1 + i % POOL));
	}
}

static void *exchange(void *seed)
{
	uint64_t state = (uintptr_t)seed;

	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
		void *block = malloc(24 + 512 * (truth_random(&state) % 3)),
		     **place = &pool[truth_random(&state) % POOL];

		if (truth_random(&state) % 4 == 0)
			block = realloc(block, 100);
		free(__atomic_exchange_n(place, block, __ATOMIC_ACQ_REL));
	}
	return NULL;
}

static void race(size_t rounds)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, exchange, (void *)(i + 1)) != 0)
			truth_die("pthread_create");
	for (size_t i = 0; i < rounds; i++) {
		usleep(300);
		tprof_stop();
		usleep(300);
		tprof_start();
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	bool races = argc == 3 && strcmp(argv[1], "race") == 0;
	size_t count = argc == 3 ? strtoul(argv[1], NULL, 10) : 0, keeps = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (races) {
		race(keeps);
		keeps = 0;
	}
	if (keeps > KEPT_MAX)
		truth_die("usage: paused PAIRS KEPT");
	for (size_t i = 0; i < keeps; i++)
		kept[i] = malloc(100);
	tprof_stop();
	if (!races) {
		pairs((size_t)POOL * 2);
		pairs(count);
	}
	for (size_t i = 0; i < keeps; i++)
		free(kept[i]);
	tprof_start();
	for (size_t i = 0; i < POOL; i++)
		free(pool[i]);
	return 0;
}
