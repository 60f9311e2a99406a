/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/frame_table.h"

#include "core/assert.h"
#include "core/space.h"
#include "core/trylock.h"

#define FIRST_CAPACITY 4096u
#define GONE UINT64_C(1) /* key of a purged slot; real keys are larger */

tpc_frame_table_pointer tpc_frame_table;
tpc_shared_u32 tpc_frames_epoch TPC_LOOKED_AT = { 1 };

static tpc_shared_u32 growing; /* core/trylock.h: one thread at a time copies */
static tpc_shared_u32 purges;  /* completed */

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

/* Inserts a frame. False: the table is (nearly) full, or contains the key. */
static bool insert(struct tpc_frame_table *to, uint64_t key, const struct tpc_frame *frame)
{
	tpc_assert(key > GONE && frame->number);
	if (tpc_load(&to->used) >= to->capacity / 4 * 3)
		return false;
	for (uint64_t i = tpc_frame_hash(key);; i++) {
		struct tpc_frame_slot *at = &to->slots[i & (to->capacity - 1)];
		uint64_t there = tpc_load_acquire(&at->key);

		if (there == key) {
			if (tpc_load_acquire(&at->number))
				return false;
			/*
			 * Claimed but not filled: about to be, or abandoned by a longjmp. In either case it is not
			 * needed.
			 */
			tpc_swap_if(&at->key, key, GONE);
			continue;
		}
		if (there || !tpc_swap_if(&at->key, (uint64_t)0, key))
			continue;
		tpc_add(&to->used, 1);
		put_rule(at, frame->rule);
		tpc_store_release(&at->number,
				  frame->number); /* pairs with tpc_frame_table_look(): the rule is there */
		return true;
	}
}

static bool is_live(const struct tpc_frame_slot *slot)
{
	uint64_t key = tpc_load_acquire(&slot->key);

	return key > GONE && tpc_load_acquire(&slot->number);
}

/* A table twice as large; of the same size if enough frames were purged. */
static struct tpc_frame_table *make_for(const struct tpc_frame_table *old)
{
	uint64_t live = 0;

	if (!old)
		return make(FIRST_CAPACITY);
	for (uint64_t i = 0; i < old->capacity; i++)
		live += is_live(&old->slots[i]);
	return make(live > old->capacity / 4 ? old->capacity * 2 : old->capacity);
}

static void copy(struct tpc_frame_table *to, const struct tpc_frame_table *from)
{
	for (uint64_t i = 0; i < from->capacity; i++) {
		uint64_t key = tpc_load_acquire(&from->slots[i].key);
		struct tpc_frame frame = { .number = tpc_load_acquire(&from->slots[i].number) };

		if (key <= GONE || !frame.number)
			continue;
		frame.rule = tpc_frame_rule_of(&from->slots[i]); /* valid, as the number is set */
		insert(to, key, &frame);
	}
}

/* Does the copy agree with `from`? A frame that was purged meanwhile is no longer in `from`. */
static bool holds_all(const struct tpc_frame_table *copy, const struct tpc_frame_table *from, uint64_t copied)
{
	struct tpc_frame there, here;
	uint64_t missing = 0;

	for (uint64_t i = 0; i < copy->capacity; i++) {
		uint64_t key = tpc_load_acquire(&copy->slots[i].key);

		if (key > GONE && tpc_frame_table_look(copy, key, &here) && tpc_frame_table_look(from, key, &there))
			missing += here.number != there.number;
	}
	return !missing && copied <= copy->capacity / 4 * 3;
}

/*
 * Drops from `in` what was purged since *seen: it is no longer in `old`. A frame that was added to `in` later may be
 * dropped too, and is then worked out again.
 */
static void drop_purged(struct tpc_frame_table *in, const struct tpc_frame_table *old, uint32_t *seen)
{
	uint32_t now = tpc_load_seq(&purges);
	struct tpc_frame frame;

	for (uint64_t i = 0; now != *seen && i < in->capacity; i++) {
		uint64_t key = tpc_load_acquire(&in->slots[i].key);

		if (key > GONE && !tpc_frame_table_look(old, key, &frame))
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
		tpc_assert_whole(holds_all(larger, old, tpc_load(&larger->used)));
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
		in = tpc_load_seq(&tpc_frame_table);
		for (uint64_t i = 0; in && i < in->capacity; i++) {
			uint64_t key = tpc_load(&in->slots[i].key);

			if (key > GONE && key >> 1 >= start && key >> 1 < end)
				tpc_store(&in->slots[i].key, GONE);
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
