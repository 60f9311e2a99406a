/* SPDX-License-Identifier: Apache-2.0 */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

#define STACK ((size_t)8 << 20) /* bytes, as the main thread mostly has, whatever the system's default is */

struct items {
	_Atomic size_t next;
	size_t count;
	void (*work)(void *context, size_t index);
	void *context;
};

size_t tpa_processors(void)
{
	cpu_set_t allowed;

	return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? (size_t)CPU_COUNT(&allowed) : 1;
}

static void *run(void *argument)
{
	struct items *items = argument;

	for (size_t i; (i = atomic_fetch_add(&items->next, 1)) < items->count;)
		items->work(items->context, i);
	return NULL;
}

void tpa_workers(size_t threads, size_t count, void (*work)(void *context, size_t index), void *context)
{
	struct items items = { .count = count, .work = work, .context = context };
	size_t wanted = threads ? threads : tpa_processors(), started = 0;
	pthread_attr_t attributes;
	pthread_t *others;

	wanted = wanted < count ? wanted : count;
	others = tpa_zalloc(wanted + 1, sizeof(*others));
	tpa_need(pthread_attr_init(&attributes) == 0);
	pthread_attr_setstacksize(&attributes, STACK);
	while (started + 1 < wanted && pthread_create(&others[started], &attributes, run, &items) == 0)
		started++;
	pthread_attr_destroy(&attributes);
	run(&items);
	while (started)
		pthread_join(others[--started], NULL);
	free(others);
}

/* ---- by size ---- */

struct sized {
	uint64_t size;
	size_t index;
};

struct by_size {
	struct sized *order;
	void (*work)(void *context, size_t index);
	void *context;
};

static int largest_first(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	return TPA_DOWN(x->size, y->size) ?: TPA_UP(x->index, y->index);
}

static void work_on(void *context, size_t place)
{
	const struct by_size *items = context;

	items->work(items->context, items->order[place].index);
}

void tpa_workers_largest(size_t threads, const uint64_t *sizes, size_t count, void (*work)(void *context, size_t index),
			 void *context)
{
	struct by_size items = { tpa_zalloc(count + 1, sizeof(*items.order)), work, context };

	for (size_t i = 0; i < count; i++)
		items.order[i] = (struct sized){ sizes[i], i };
	qsort(items.order, count, sizeof(*items.order), largest_first);
	tpa_workers(threads, count, work_on, &items);
	free(items.order);
}
