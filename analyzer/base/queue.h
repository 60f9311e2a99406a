/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priority queue of things with a time: the smallest key first, on equal keys the lowest order. A binary heap in an
 * array that the owner provides.
 */
#ifndef TPROF_BASE_QUEUE_H
#define TPROF_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_queue_item {
	uint64_t key, order;
	void *what;
};

struct tp_queue {
	struct tp_queue_item *items;
	size_t count;
};

static inline bool tp_queue_before(const struct tp_queue_item *a, const struct tp_queue_item *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* The first item got a later key: moves it to its place. */
static inline void tp_queue_sink(struct tp_queue *queue)
{
	struct tp_queue_item item = queue->items[0];
	size_t at = 0, child;

	for (child = 1; child < queue->count; child = 2 * at + 1) {
		if (child + 1 < queue->count && tp_queue_before(&queue->items[child + 1], &queue->items[child]))
			child++;
		if (!tp_queue_before(&queue->items[child], &item))
			break;
		queue->items[at] = queue->items[child];
		at = child;
	}
	if (queue->count)
		queue->items[at] = item;
}

/* items has room for one more. */
static inline void tp_queue_push(struct tp_queue *queue, uint64_t key, uint64_t order, void *what)
{
	struct tp_queue_item item = { key, order, what };
	size_t at = queue->count++;

	for (; at && tp_queue_before(&item, &queue->items[(at - 1) / 2]); at = (at - 1) / 2)
		queue->items[at] = queue->items[(at - 1) / 2];
	queue->items[at] = item;
}

static inline void tp_queue_drop_first(struct tp_queue *queue)
{
	queue->items[0] = queue->items[--queue->count];
	tp_queue_sink(queue);
}

/* The key before which the first item is ahead of all others. */
static inline uint64_t tp_queue_second_key(const struct tp_queue *queue)
{
	uint64_t key = queue->count > 1 ? queue->items[1].key : UINT64_MAX;

	return queue->count > 2 && queue->items[2].key < key ? queue->items[2].key : key;
}

#endif
