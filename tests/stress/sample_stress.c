/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of sampled blocks, used by four threads: a block is inserted by one thread and removed by another, as a
 * program's frees do. Each that went in comes out once; none comes out that did not go in.
 */
#include "harness.h"

#include "core/base.h"
#include "hooks/memory/sample.h"

#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define BLOCKS 20000 /* a thread's */
#define LIVE 500

/* The hand-over between threads: the block's address, or 0. */
static uint64_t mailbox[THREADS][LIVE];
static uint64_t inserted[THREADS], removed[THREADS];

static uint64_t address_of(uint64_t thread, uint64_t i)
{
	return (i * THREADS + thread + 1) * 16;
}

static void put(size_t me, uint64_t i)
{
	uint64_t *slot = &mailbox[me][i % LIVE];
	uint64_t address = address_of(me, i);

	if (tpc_load(slot) || !tpc_sample_insert(address))
		return;
	inserted[me]++;
	tpc_store_release(slot, address); /* pairs with take(): the block is handed over */
}

static void take(size_t me, uint64_t i)
{
	uint64_t *slot = &mailbox[(me + 1) % THREADS][i % LIVE];
	uint64_t address = __atomic_exchange_n(slot, 0, __ATOMIC_ACQ_REL);

	if (!address)
		return;
	HARNESS_CHECK(tpc_sample_remove(address));
	removed[me]++;
}

static void *work(void *argument)
{
	size_t me = (size_t)(uintptr_t)argument;

	for (uint64_t i = 0; i < BLOCKS; i++) {
		put(me, i);
		HARNESS_CHECK(!tpc_sample_remove(address_of(me, i) + 8)); /* never inserted */
		take(me, i * 7);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint64_t in = 0, out = 0;

	harness_start();
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < THREADS; i++) {
		for (size_t k = 0; k < LIVE; k++) {
			if (mailbox[i][k])
				HARNESS_CHECK(tpc_sample_remove(mailbox[i][k]) && !tpc_sample_remove(mailbox[i][k]));
			out += mailbox[i][k] != 0;
		}
		in += inserted[i];
		out += removed[i];
	}
	HARNESS_CHECK(in == out && in > BLOCKS / 20);
	printf("sample: %lu blocks in and out\n", in);
	return 0;
}
