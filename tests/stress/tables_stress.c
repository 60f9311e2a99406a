/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads intern the same stacks at once, through tables that grow meanwhile, and a fifth reads what they committed.
 * In the end each node that anybody was given stands in a table chunk, with the parent and the frame that it was given for.
 */
#include "harness.h"

#include "core/base.h"
#include "stacks/frames.h"
#include "stacks/nodes.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define STACKS 6000
#define DEPTH_MAX 30
#define NUMBERS_MAX 4000000u
#define BOGUS UINT64_C(0x100000000000) /* program counters in no object */

struct given {
	uint32_t node, parent, frame;
};

struct worker {
	pthread_t thread;
	uint64_t random;
	struct given *given;
	size_t count, lookups;
	uintptr_t *pcs; /* by frame number */
};

static struct worker workers[THREADS];
static int running = THREADS;
static size_t polls; /* of the fifth */

static uint32_t draw(struct worker *worker, uint32_t below)
{
	worker->random = worker->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(worker->random >> 33) % below;
}

/* As walk.c does: down the known nodes, the rest made at once. */
static void intern(struct worker *worker, const uint32_t *frames, size_t depth)
{
	uint32_t parent = TPROF_NODE_ROOT;

	for (size_t i = 0; i < depth; i++) {
		struct tpc_node_miss miss;
		uint32_t node = tpc_node_find(parent, frames[i], &miss);

		if (!node) {
			uint32_t first = tpc_nodes_make(parent, frames + i, depth - i, &miss);

			worker->given[worker->count++] = (struct given){ first, parent, frames[i] };
			for (size_t k = 1; k < depth - i; k++)
				worker->given[worker->count++] =
					(struct given){ first + (uint32_t)k, first + (uint32_t)k - 1, frames[i + k] };
			return;
		}
		worker->given[worker->count++] = (struct given){ node, parent, frames[i] };
		worker->lookups++;
		parent = node;
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (uint32_t stack = 0; stack < STACKS; stack++) {
		uint32_t frames[DEPTH_MAX];
		size_t depth = 1 + draw(worker, DEPTH_MAX);

		while (stack == STACKS / 2 && !tpc_load(&polls)) /* however long a busy machine lets the reader wait */
			sched_yield();
		for (size_t i = 0; i < depth; i++) {
			uintptr_t pc = BOGUS + i * 4096 + draw(worker, i < 10 ? 3 : 300);
			struct tpc_frame frame = tpc_frame_find(pc, false);

			HARNESS_CHECK(frame.number && frame.number < NUMBERS_MAX);
			HARNESS_CHECK(frame.rule.kind == TPC_RULE_NONE);
			HARNESS_CHECK(!worker->pcs[frame.number] || worker->pcs[frame.number] == pc);
			worker->pcs[frame.number] = pc;
			frames[i] = frame.number;
		}
		intern(worker, frames, depth);
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void read_all(struct harness_node *nodes, uint64_t *offsets)
{
	for (size_t i = 0; i < harness_chunk_count(); i++) {
		const struct tprof_chunk *chunk = harness_chunk(i);

		if (chunk)
			harness_read_tables(chunk, nodes, offsets, NUMBERS_MAX);
	}
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* A frame that was in two slots would have one number before the table grew, and perhaps the other one afterwards. */
static void no_frame_is_twice(void)
{
	const struct tpc_frame_table *table = tpc_load(&tpc_frame_table);
	uint64_t *keys = calloc(table->capacity, sizeof(*keys));

	HARNESS_CHECK(keys);
	for (uint64_t i = 0; i < table->capacity; i++)
		keys[i] = tpc_load(&table->slots[i].key);
	qsort(keys, table->capacity, sizeof(*keys), by_value);
	for (uint64_t i = 1; i < table->capacity; i++)
		HARNESS_CHECK(keys[i] <= 1 || keys[i] != keys[i - 1]);
	free(keys);
}

int main(void)
{
	struct harness_node *nodes = calloc(NUMBERS_MAX, sizeof(*nodes));
	uint64_t *offsets = calloc(NUMBERS_MAX, sizeof(*offsets));
	size_t given = 0, lookups = 0;

	HARNESS_CHECK(nodes && offsets);
	harness_start();
	for (int i = 0; i < THREADS; i++) {
		workers[i].random = (uint64_t)i / 2 + 1; /* two and two on the same way */
		workers[i].given = calloc(STACKS * DEPTH_MAX, sizeof(struct given));
		workers[i].pcs = calloc(NUMBERS_MAX, sizeof(uintptr_t));
		HARNESS_CHECK(workers[i].given && workers[i].pcs);
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (; __atomic_load_n(&running, __ATOMIC_ACQUIRE); tpc_add(&polls, 1))
		read_all(nodes, offsets);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	read_all(nodes, offsets);
	no_frame_is_twice();
	for (int i = 0; i < THREADS; i++) {
		for (size_t k = 0; k < workers[i].count; k++) {
			const struct given *one = &workers[i].given[k];

			HARNESS_CHECK(nodes[one->node].frame == one->frame && nodes[one->node].parent == one->parent);
			HARNESS_CHECK(offsets[one->frame] == workers[i].pcs[one->frame]);
		}
		given += workers[i].count;
		lookups += workers[i].lookups;
	}
	printf("tables: %zu nodes given, %zu of them found, %zu chunks, read %zu times\n", given, lookups,
	       harness_chunk_count(), polls);
	HARNESS_CHECK(polls > 0 && lookups > given / 20 && harness_chunk_count() >= THREADS);
	return 0;
}
