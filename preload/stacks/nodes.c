/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/nodes.h"

#include "core/assert.h"
#include "core/space.h"
#include "core/sys.h"
#include "core/tables.h"
#include "core/trylock.h"

#define FIRST_CAPACITY 4096u
#define JOINED (UINT64_C(1) << 63) /* | native << 31 | python; other keys with that bit: hooks/python/codes.c */

static tpc_shared_u32 handed_out; /* node numbers, from TPROF_NODE_FIRST on; a parent's is below its children's */

/* ---- children ---- */

/*
 * Most nodes have few children, and most new nodes come in chains with consecutive numbers. So a node's place follows
 * from its number, and new nodes are written next to the last ones: no cache line of a new stack must be waited for.
 * The children of a node form a list, youngest first, with a limited length; further children are in a table. Places
 * are in segments of 768 KiB that never move.
 */
#define SEGMENT_BITS 16
#define SEGMENT_BYTES (sizeof(struct place) << SEGMENT_BITS)
#define SEGMENTS 16384u
#define SEGMENTS_TAKEN 8u		  /* allocated at once, after the first: 6 MiB */
#define LISTED 8u			  /* children in a list */
#define JOINED_CHILD UINT32_C(0x80000000) /* | node: the child of a join, not of a frame */

struct place {
	tpc_shared_u32 youngest; /* child; 0: none */
	uint32_t what;		 /* the frame, or what it is joined with */
	uint32_t elder;		 /* the child of its parent that was the youngest before it; 0: none */
};

static TPC_SHARED(struct place *) segments[SEGMENTS];

static struct place *place_of(uint32_t node)
{
	struct place *segment;

	if (node >> SEGMENT_BITS >= SEGMENTS)
		return NULL;
	segment = tpc_load_acquire(&segments[node >> SEGMENT_BITS]);
	return tpc_likely(segment) ? &segment[node & ((1u << SEGMENT_BITS) - 1)] : NULL;
}

/*
 * Allocates one segment at first, later several at once. Uses pages of 4 KiB: a large page takes one fault instead of
 * 512, but in a virtual machine that returns free memory (free page reporting) the host must find it first. 24 MiB of
 * nodes took 10 ms in small pages and 20 to 60 ms in large ones, 2 ms once the host had found them.
 */
static TPC_SLOW struct place *make_place(uint32_t node)
{
	uint32_t segment = node >> SEGMENT_BITS, first = 0, count = 1;
	struct place *made;

	if (segment) {
		first = (segment - 1) / SEGMENTS_TAKEN * SEGMENTS_TAKEN + 1;
		count = SEGMENTS_TAKEN;
	}
	if (first + count > SEGMENTS || !(made = tpc_space_take(count * SEGMENT_BYTES)))
		return NULL;
	for (uint32_t i = 0; i < count; i++, made += 1u << SEGMENT_BITS) {
		if (!tpc_swap_if(&segments[first + i], (struct place *)NULL, made))
			tpc_space_give_back(made, SEGMENT_BYTES); /* another thread was first */
	}
	return place_of(node);
}

static struct place *room_of(uint32_t node)
{
	struct place *place = place_of(node);

	return tpc_likely(place) ? place : make_place(node);
}

/* The child, if it is listed; else 0. */
static uint32_t find_child(uint32_t parent, uint32_t what, struct tpc_node_miss *miss)
{
	const struct place *place = place_of(parent);
	uint32_t child = 0;

	miss->listed = 0;
	if (tpc_likely(place))
		child = tpc_load_acquire(&place->youngest); /* pairs with add_child(): its record is in the trace */
	miss->youngest = child;
	while (child) {
		tpc_assert(miss->listed < LISTED);
		place = place_of(child);
		if (place->what == what)
			break;
		child = place->elder;
		miss->listed++;
	}
	return child;
}

/*
 * Adds a node to its parent's list, where it was missing. False: the list has changed. Without memory the node will be
 * made again, under another number that means the same.
 */
static bool add_child(uint32_t parent, uint32_t what, uint32_t node, const struct tpc_node_miss *miss)
{
	struct place *above = room_of(parent), *place = room_of(node);

	tpc_assert(parent < node && node >= TPROF_NODE_FIRST);
	if (tpc_unlikely(!above || !place))
		return true;
	place->what = what;
	place->elder = miss->youngest;
	return tpc_swap_if(&above->youngest, miss->youngest, node);
}

/* Like add_child(), for nodes that no other thread knows yet. */
static void add_only_child(uint32_t parent, uint32_t what, uint32_t node)
{
	struct place *above = room_of(parent), *place = room_of(node);

	if (tpc_unlikely(!above || !place))
		return;
	place->what = what;
	tpc_store(&above->youngest, node);
}

/* ---- the table of children that are not listed, and of other things ---- */

/* Keys and numbers are separate, so that a slot takes 12 bytes: 16 to 32 bytes a child when 3/8 to 3/4 full. */
struct table {
	uint64_t capacity; /* a power of two */
	tpc_shared_u64 used;
	tpc_shared_u32 *numbers; /* behind the keys; 0: claimed, not yet published */
	tpc_shared_u64 keys[];	 /* parent << 32 | frame; 0: empty */
};

static TPC_SHARED(struct table *) table;
static tpc_shared_u32 growing; /* core/trylock.h */

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
	struct table *made = tpc_space_take_dense(bytes_of(capacity));

	if (made) {
		made->capacity = capacity;
		made->numbers = (tpc_shared_u32 *)(made->keys + capacity);
	}
	return made;
}

static void insert(struct table *to, uint64_t key, uint32_t number)
{
	if (tpc_load(&to->used) >= to->capacity / 4 * 3)
		return; /* the node will be made again, under another number that means the same */
	for (uint64_t i = hash(key);; i++) {
		uint64_t at = i & (to->capacity - 1);
		uint64_t there = tpc_load_acquire(&to->keys[at]);

		if (there == key) {
			/*
			 * Not filled yet: abandoned by a longjmp, or about to be filled with a number that means the
			 * same.
			 */
			tpc_swap_if(&to->numbers[at], 0u, number);
			return;
		}
		if (there || !tpc_swap_if(&to->keys[at], (uint64_t)0, key))
			continue;
		tpc_add(&to->used, 1);
		/* Pairs with tpc_node_find(): the node's record is in the trace. */
		tpc_store_release(&to->numbers[at], number);
		return;
	}
}

static uint32_t find_in(const struct table *in, uint64_t key)
{
	for (uint64_t i = hash(key);; i++) {
		uint64_t at = i & (in->capacity - 1);
		uint64_t there = tpc_load_acquire(&in->keys[at]);

		if (there == key)
			return tpc_load_acquire(&in->numbers[at]);
		if (!there)
			return 0;
	}
}

/* Copies into a table that no other thread has seen: no atomics. */
static void copy_all(struct table *to, const struct table *from)
{
	for (uint64_t i = 0; i < from->capacity; i++) {
		uint32_t number = tpc_load_acquire(&from->numbers[i]);
		uint64_t key = tpc_load_acquire(&from->keys[i]), at;

		if (!number)
			continue;
		for (at = hash(key); tpc_unshared(to->keys[at & (to->capacity - 1)]); at++)
			;
		tpc_unshared(to->keys[at & (to->capacity - 1)]) = key;
		tpc_unshared(to->numbers[at & (to->capacity - 1)]) = number;
		tpc_unshared(to->used)++;
	}
}

/* Does `in` have each key of `from` with its number? Other threads may be inserting into `from`. */
static bool holds_all(const struct table *in, const struct table *from, uint64_t copied)
{
	uint64_t found = 0;

	for (uint64_t i = 0; i < from->capacity; i++) {
		uint32_t number = tpc_load_acquire(&from->numbers[i]);

		found += number && find_in(in, tpc_load(&from->keys[i])) == number;
	}
	return found >= copied && copied <= in->capacity / 4 * 3;
}

/* Like grow() of frame_table.c: others may still insert into the old table; what the copy misses is made twice. */
static TPC_SLOW void grow(struct table *old)
{
	struct table *larger;

	if (!tpc_trylock_take(&growing))
		return;
	if (old == tpc_load(&table)) {
		larger = make(old ? old->capacity * 2 : FIRST_CAPACITY);
		if (larger && old)
			copy_all(larger, old);
		tpc_assert_whole(!larger || !old || holds_all(larger, old, tpc_unshared(larger->used)));
		if (larger)
			tpc_store_release(&table, larger); /* pairs with tpc_node_find(): it is filled */
		if (larger && old)
			tpc_space_retire(old, bytes_of(old->capacity), sizeof(*old));
	}
	tpc_trylock_end(&growing);
}

uint32_t tpc_number_find(uint64_t key)
{
	const struct table *in = tpc_load_acquire(&table);

	return tpc_likely(in) ? find_in(in, key) : 0;
}

void tpc_number_keep(uint64_t key, uint32_t number)
{
	struct table *to = tpc_load_acquire(&table);

	if (!to || tpc_load(&to->used) >= to->capacity / 4 * 3) {
		grow(to);
		to = tpc_load_acquire(&table);
	}
	if (to)
		insert(to, key, number);
}

/* ---- both ---- */

static uint32_t find(uint32_t parent, uint32_t what, uint64_t key, struct tpc_node_miss *miss)
{
	uint32_t number = find_child(parent, what, miss);

	return tpc_likely(number || miss->listed < LISTED) ? number : tpc_number_find(key);
}

/* Another thread may have added children, even this one: then that one stays. */
static void keep(uint32_t parent, uint32_t what, uint64_t key, uint32_t number, const struct tpc_node_miss *miss)
{
	struct tpc_node_miss now = *miss;

	while (tpc_likely(now.listed < LISTED)) {
		if (tpc_likely(add_child(parent, what, number, &now)) || find_child(parent, what, &now))
			return;
	}
	tpc_number_keep(key, number);
}

uint32_t tpc_node_find(uint32_t parent, uint32_t frame, struct tpc_node_miss *miss)
{
	return find(parent, frame, key_of(parent, frame), miss);
}

/* Prefetches places that will be written soon: no thread has touched them, so they are not in any cache. */
static void fetch_ahead(uint32_t node)
{
	const char *place = (const char *)place_of(node);

	if (tpc_unlikely(!place))
		return;
	for (uint32_t line = 6; line < 8; line++) /* a prefetch beyond the end of a segment does no harm */
		__builtin_prefetch(place + (size_t)line * 64, 1);
}

/* The outer end of the chain is added last: until then no other thread finds the others, or adds children to them. */
uint32_t tpc_nodes_make(uint32_t parent, const uint32_t *frames, size_t count, const struct tpc_node_miss *miss)
{
	uint32_t first = tpc_add(&handed_out, (uint32_t)count) + TPROF_NODE_FIRST;

	tpc_assert(count && parent < first);
	fetch_ahead(first);
	tpc_table_nodes(first, parent, frames, count);
	for (size_t i = 1; i < count; i++)
		add_only_child(first + (uint32_t)i - 1, frames[i], first + (uint32_t)i);
	keep(parent, frames[0], key_of(parent, frames[0]), first, miss);
	return first;
}

/*
 * A child of the younger of the two. A Python loop meets a native stack with a hundred lines, and a line meets hundreds
 * of native stacks; but of those that are new at the same time each has only a few.
 */
uint32_t tpc_node_join(uint32_t native, uint32_t python)
{
	uint64_t key = JOINED | (uint64_t)native << 31 | python;
	uint32_t parent = native > python ? native : python, what = (native ^ python ^ parent) | JOINED_CHILD;
	struct tpc_node_miss miss;
	uint32_t number = find(parent, what, key, &miss);

	if (tpc_likely(number))
		return number;
	number = tpc_add(&handed_out, 1) + TPROF_NODE_FIRST;
	tpc_table_join(number, native, python);
	keep(parent, what, key, number, &miss);
	return number;
}

void tpc_nodes_forget(void)
{
	struct table *old = tpc_unshared(table);

	for (size_t i = 0;
	     i < SEGMENTS && i <= ((tpc_unshared(handed_out) + TPROF_NODE_FIRST) >> SEGMENT_BITS) + SEGMENTS_TAKEN;
	     i++) {
		if (tpc_unshared(segments[i]))
			tpc_space_give_back(tpc_unshared(segments[i]), SEGMENT_BYTES);
		tpc_unshared(segments[i]) = NULL;
	}
	if (old)
		tpc_space_give_back(old, bytes_of(old->capacity));
	tpc_unshared(table) = NULL;
	tpc_unshared(growing) = 0;
	tpc_unshared(handed_out) = 0;
}
