/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/nodes.h"

#include "core/space.h"
#include "core/tables.h"
#include "core/turn.h"

#define FIRST_CAPACITY 16384u
#define JOINED (UINT64_C(1) << 63) /* | native << 31 | python; other keys with that bit: hooks/python/codes.c */

/* Keys and numbers apart, so that a slot is 12 bytes: at 3/8 to 3/4 full, 16 to 32 bytes a node. */
struct table {
	uint64_t capacity; /* a power of two */
	uint64_t used;
	uint32_t *numbers; /* behind the keys; 0: claimed, not yet published */
	uint64_t keys[];   /* parent << 32 | frame; 0: empty */
};

static struct table *table;
static uint32_t growing;    /* core/turn.h */
static uint32_t handed_out; /* node numbers, from TPROF_NODE_FIRST on */

static uint64_t key_of(uint32_t parent, uint32_t frame)
{
	return (uint64_t)parent << 32 | frame;
}

static uint64_t hash(uint64_t key)
{
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

static size_t bytes_of(uint64_t capacity)
{
	return sizeof(struct table) + capacity * (sizeof(uint64_t) + sizeof(uint32_t));
}

static struct table *make(uint64_t capacity)
{
	struct table *made = tp_space_take(bytes_of(capacity));

	if (made) {
		made->capacity = capacity;
		made->numbers = (uint32_t *)(made->keys + capacity);
	}
	return made;
}

static void insert(struct table *to, uint64_t key, uint32_t number)
{
	if (tp_load(&to->used) >= to->capacity / 4 * 3)
		return; /* it will be made again, under another number that means the same */
	for (uint64_t i = hash(key);; i++) {
		uint64_t at = i & (to->capacity - 1);
		uint64_t there = tp_load_acquire(&to->keys[at]);

		if (there == key) {
			/* Not filled yet: left so by a longjmp, or about to be, with a number that means the same. */
			tp_swap_if(&to->numbers[at], 0u, number);
			return;
		}
		if (there || !tp_swap_if(&to->keys[at], (uint64_t)0, key))
			continue;
		tp_add(&to->used, 1);
		/* Pairs with tp_node_find(): the node's record is in the trace. */
		tp_store_release(&to->numbers[at], number);
		return;
	}
}

/* Into a table that nobody else has seen yet: no atomics. */
static void copy_all(struct table *to, const struct table *from)
{
	for (uint64_t i = 0; i < from->capacity; i++) {
		uint32_t number = tp_load_acquire(&from->numbers[i]);
		uint64_t key = tp_load_acquire(&from->keys[i]), at;

		if (!number)
			continue;
		for (at = hash(key); to->keys[at & (to->capacity - 1)]; at++)
			;
		to->keys[at & (to->capacity - 1)] = key;
		to->numbers[at & (to->capacity - 1)] = number;
		to->used++;
	}
}

/* As frames.c: others may go on inserting into the old table; what the copy misses is made twice. */
static TP_SLOW void grow(struct table *old)
{
	struct table *larger;

	if (!tp_turn_take(&growing))
		return;
	if (old == tp_load(&table)) {
		larger = make(old ? old->capacity * 2 : FIRST_CAPACITY);
		if (larger && old)
			copy_all(larger, old);
		if (larger)
			tp_store_release(&table, larger); /* pairs with tp_node_find(): it is filled */
		if (larger && old)
			tp_space_retire(old, bytes_of(old->capacity), sizeof(*old));
	}
	tp_turn_end(&growing);
}

uint32_t tp_number_find(uint64_t key)
{
	const struct table *in = tp_load_acquire(&table);

	if (tp_unlikely(!in))
		return 0;
	for (uint64_t i = hash(key);; i++) {
		uint64_t at = i & (in->capacity - 1);
		uint64_t there = tp_load_acquire(&in->keys[at]);

		if (there == key)
			return tp_load_acquire(&in->numbers[at]);
		if (!there)
			return 0;
	}
}

uint32_t tp_node_find(uint32_t parent, uint32_t frame)
{
	return tp_number_find(key_of(parent, frame));
}

void tp_number_keep(uint64_t key, uint32_t number)
{
	struct table *to = tp_load_acquire(&table);

	if (!to || tp_load(&to->used) >= to->capacity / 4 * 3) {
		grow(to);
		to = tp_load_acquire(&table);
	}
	if (to)
		insert(to, key, number);
}

uint32_t tp_nodes_make(uint32_t parent, const uint32_t *frames, size_t count)
{
	uint32_t first = tp_add(&handed_out, (uint32_t)count) + TPROF_NODE_FIRST;

	tp_table_nodes(first, parent, frames, count);
	for (size_t i = 0; i < count; i++)
		tp_number_keep(key_of(i ? first + (uint32_t)i - 1 : parent, frames[i]), first + (uint32_t)i);
	return first;
}

uint32_t tp_node_join(uint32_t native, uint32_t python)
{
	uint64_t key = JOINED | (uint64_t)native << 31 | python;
	uint32_t number = tp_number_find(key);

	if (tp_likely(number))
		return number;
	number = tp_add(&handed_out, 1) + TPROF_NODE_FIRST;
	tp_table_join(number, native, python);
	tp_number_keep(key, number);
	return number;
}

void tp_nodes_forget(void)
{
	if (table)
		tp_space_give_back(table, bytes_of(table->capacity));
	table = NULL;
	growing = 0;
	handed_out = 0;
}
