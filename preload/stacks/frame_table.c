/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/frame_table.h"

#include "core/assert.h"
#include "core/space.h"
#include "core/trylock.h"

#define FIRST_CAPACITY 4096u
#define GONE UINT64_C(1)	    /* key of a purged slot; real keys are larger */
#define CLAIMED (UINT64_C(1) << 63) /* with a key: the slot is being filled; program counters are lower */

tpc_frame_table_pointer tpc_frame_table;
tpc_shared_u32 tpc_frames_epoch TPC_LOOKED_AT = { 1 };

static tpc_shared_u32 growing; /* core/trylock.h: one thread at a time copies */
static tpc_shared_u32 purges;  /* begun and ended: two for each */

static size_t bytes_of(uint64_t capacity)
{
	return sizeof(struct tpc_frame_table) + capacity * sizeof(struct tpc_frame_slot);
}

static struct tpc_frame_table *make(uint64_t capacity)
{
	struct tpc_frame_table *made = tpc_space_take_dense(bytes_of(capacity));

	if (made)
		made->capacity = capacity;
	return made;
}

static inline TPC_UNSEEN_ZEROS void put_rule(struct tpc_frame_slot *slot, struct tpc_rule rule)
{
	slot->rule = rule;
}

/* Inserts a frame. False: the table is (nearly) full, or contains the key. A key is published in one slot at most. */
static bool insert(struct tpc_frame_table *to, uint64_t key, const struct tpc_frame *frame)
{
	uint64_t i = tpc_frame_hash(key);

	tpc_assert(key > GONE && key < CLAIMED && frame->number);
	if (tpc_load(&to->used) >= to->capacity / 4 * 3)
		return false;
	for (;;) {
		struct tpc_frame_slot *at = &to->slots[i & (to->capacity - 1)];
		uint64_t there = tpc_load_acquire(&at->key);

		if (there == key)
			return false;
		if (there == (key | CLAIMED)) {
			/* Either about to be filled, or abandoned by a longjmp. In neither case is it needed. */
			tpc_swap_if(&at->key, there, GONE);
		} else if (there) {
			i++;
		} else if (tpc_swap_if(&at->key, there, key | CLAIMED)) {
			tpc_add(&to->used, 1);
			put_rule(at, frame->rule);
			tpc_store(&at->number, frame->number);
			return tpc_swap_if(&at->key, key | CLAIMED, key); /* pairs with tpc_frame_table_look() */
		}
	}
}

static bool is_frame(uint64_t key)
{
	return key > GONE && key < CLAIMED;
}

/* A table twice as large; of the same size if enough frames were purged. */
static struct tpc_frame_table *make_for(const struct tpc_frame_table *old)
{
	uint64_t live = 0;

	if (!old)
		return make(FIRST_CAPACITY);
	for (uint64_t i = 0; i < old->capacity; i++)
		live += is_frame(tpc_load(&old->slots[i].key));
	return make(live > old->capacity / 4 ? old->capacity * 2 : old->capacity);
}

static void copy(struct tpc_frame_table *to, const struct tpc_frame_table *from)
{
	for (uint64_t i = 0; i < from->capacity; i++) {
		uint64_t key = tpc_load_acquire(&from->slots[i].key);
		struct tpc_frame frame = { .rule = tpc_frame_rule_of(&from->slots[i]) };

		frame.number = tpc_load(&from->slots[i].number);
		if (is_frame(key))
			insert(to, key, &frame);
	}
}

/* Whether `from` has the frame of a slot of its copy: with another number, it was purged and worked out again. */
static bool has_frame(const struct tpc_frame_table *from, const struct tpc_frame_slot *copied, uint64_t key)
{
	struct tpc_frame frame;

	return tpc_frame_table_look(from, key, &frame) && frame.number == tpc_load(&copied->number);
}

/* Whether the copy holds nothing but frames of `from`. Only a purge since `seen` makes a difference. */
static bool holds_the_same(const struct tpc_frame_table *copy, const struct tpc_frame_table *from, uint32_t seen)
{
	uint64_t other = 0;

	for (uint64_t i = 0; i < copy->capacity; i++) {
		uint64_t key = tpc_load_acquire(&copy->slots[i].key);

		other += is_frame(key) && !has_frame(from, &copy->slots[i], key);
	}
	return (!other || tpc_load_seq(&purges) != seen) && tpc_load(&copy->used) <= copy->capacity / 4 * 3;
}

/*
 * Drops from `in` what was purged since *seen: it is no longer in `old`. A frame that was added to `in` later may be
 * dropped too, and is then worked out again.
 */
static void drop_purged(struct tpc_frame_table *in, const struct tpc_frame_table *old, uint32_t *seen)
{
	uint32_t now = tpc_load_seq(&purges);

	for (uint64_t i = 0; now != *seen && i < in->capacity; i++) {
		uint64_t key = tpc_load_acquire(&in->slots[i].key);

		if (is_frame(key) && !has_frame(old, &in->slots[i], key))
			tpc_store(&in->slots[i].key, GONE);
	}
	*seen = now;
}

/*
 * What other threads insert into the old table meanwhile may be missing in the new one. It is then worked out again,
 * and the frame gets a second number that means the same.
 */
static TPC_SLOW void grow(struct tpc_frame_table *old)
{
	struct tpc_frame_table *larger;
	uint32_t seen;

	if (!tpc_trylock_take(&growing))
		return;
	seen = tpc_load_seq(&purges);
	larger = old == tpc_load(&tpc_frame_table) ? make_for(old) : NULL;
	if (larger && old) {
		copy(larger, old);
		tpc_assert_whole(holds_the_same(larger, old, seen));
		drop_purged(larger, old,
			    &seen); /* before others find it: only the frames of a moment remain for later */
	}
	if (larger) /* pairs with tpc_frame_find(): it is filled; and with tpc_frames_purge(): either sees the other */
		tpc_store_seq(&tpc_frame_table, larger);
	if (larger && old) {
		drop_purged(larger, old, &seen);
		tpc_space_retire(old, bytes_of(old->capacity), sizeof(*old));
	}
	tpc_trylock_end(&growing);
}

void tpc_frames_purge(uintptr_t start, uintptr_t end)
{
	struct tpc_frame_table *in;

	do { /* again if the table grew meanwhile: the copy may contain what was just purged */
		tpc_add_seq(&purges, 1);
		in = tpc_load_seq(&tpc_frame_table);
		for (uint64_t i = 0; in && i < in->capacity; i++) {
			uint64_t key = tpc_load(&in->slots[i].key);
			uint64_t pc = (key & ~CLAIMED) >> 1;

			if (key > GONE && pc >= start && pc < end)
				tpc_store_release(&in->slots[i].key, GONE);
		}
		/*
		 * Pairs with grow(), which publishes a copy and then loads this: either it sees that frames were
		 * purged, or the copy is seen here.
		 */
		tpc_add_seq(&purges, 1);
	} while (in != tpc_load_seq(&tpc_frame_table));
}

void tpc_frame_table_add(uint64_t key, const struct tpc_frame *frame)
{
	struct tpc_frame_table *to = tpc_load_acquire(&tpc_frame_table);

	if (key >= CLAIMED)
		return; /* what a walk took for a program counter is none */
	if (!to || tpc_load(&to->used) >= to->capacity / 4 * 3) {
		grow(to);
		to = tpc_load_acquire(&tpc_frame_table);
	}
	if (to)
		insert(to, key, frame);
}

void tpc_frame_table_forget(void)
{
	struct tpc_frame_table *old = tpc_unshared(tpc_frame_table);

	if (old)
		tpc_space_give_back(old, bytes_of(old->capacity));
	tpc_unshared(tpc_frame_table) = NULL;
	tpc_unshared(growing) = 0;
}
