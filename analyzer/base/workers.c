/* SPDX-License-Identifier: Apache-2.0 */
#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"

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
