/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A priority queue: the smallest key comes first, and of equal keys the lowest `order`. It is a binary heap in an
 * array that the owner provides.
 */
#ifndef TPROF_BASE_QUEUE_H
#define TPROF_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_queue_item {
	uint64_t key, order;
	void *what;
};

struct tpa_queue {
	struct tpa_queue_item *items;
	size_t count;
};

static inline bool tpa_queue_before(const struct tpa_queue_item *a, const struct tpa_queue_item *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* Restores the heap after the first item's key has increased. */
static inline void tpa_queue_sink(struct tpa_queue *queue)
{
	struct tpa_queue_item item = queue->items[0];
	size_t at = 0, child;

	for (child = 1; child < queue->count; child = 2 * at + 1) {
		if (child + 1 < queue->count && tpa_queue_before(&queue->items[child + 1], &queue->items[child]))
			child++;
		if (!tpa_queue_before(&queue->items[child], &item))
			break;
		queue->items[at] = queue->items[child];
		at = child;
	}
	if (queue->count)
		queue->items[at] = item;
}

/* Adds an item. queue->items must have room for it. */
static inline void tpa_queue_push(struct tpa_queue *queue, uint64_t key, uint64_t order, void *what)
{
	struct tpa_queue_item item = { key, order, what };
	size_t at = queue->count++;

	for (; at && tpa_queue_before(&item, &queue->items[(at - 1) / 2]); at = (at - 1) / 2)
		queue->items[at] = queue->items[(at - 1) / 2];
	queue->items[at] = item;
}

static inline void tpa_queue_drop_first(struct tpa_queue *queue)
{
	queue->items[0] = queue->items[--queue->count];
	tpa_queue_sink(queue);
}

/*
 * Returns the smallest key apart from the first item's, UINT64_MAX if there is none. While the first item's key is
 * below it, that item stays first.
 */
static inline uint64_t tpa_queue_second_key(const struct tpa_queue *queue)
{
	uint64_t key = queue->count > 1 ? queue->items[1].key : UINT64_MAX;

	return queue->count > 2 && queue->items[2].key < key ? queue->items[2].key : key;
}

#endif
