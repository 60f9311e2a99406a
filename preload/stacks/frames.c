/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/frames.h"

#include "core/space.h"
#include "core/tables.h"
#include "core/trylock.h"
#include "stacks/lately.h"
#include "stacks/modules.h"

#include <tprof/format.h>

#define FIRST_CAPACITY 4096u
#define GONE UINT64_C(1) /* key of a purged slot; real keys are larger */

struct slot {
	uint64_t key; /* pc << 1 | exact; 0: empty */
	struct tpc_rule rule;
	uint32_t number; /* 0: claimed, not yet published */
};

struct table {
	uint64_t capacity; /* a power of two */
	uint64_t used;
	struct slot slots[];
};

struct tpc_range tpc_frame_loop[TPC_LOOP_PIECES];

static struct table *table;
static uint32_t growing; /* core/trylock.h: one thread at a time copies */
static uint32_t numbers; /* handed out */
static uint32_t purges;	 /* gone through with */

static uint64_t hash(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static size_t bytes_of(uint64_t capacity)
{
	return sizeof(struct table) + capacity * sizeof(struct slot);
}

static struct table *make(uint64_t capacity)
{
	struct table *made = tpc_space_take_dense(bytes_of(capacity));

	if (made)
		made->capacity = capacity;
	return made;
}

/*
 * When a table is retired others may still be in it: a late writer puts something else into its zeros, which a late reader finds
 * there, and asks again. ThreadSanitizer does not see the zeros come.
 */
#define UNSEEN_ZEROS __attribute__((no_sanitize("thread")))

static inline UNSEEN_ZEROS struct tpc_rule rule_of(const struct slot *slot)
{
	return slot->rule;
}

static inline UNSEEN_ZEROS void put_rule(struct slot *slot, struct tpc_rule rule)
{
	slot->rule = rule;
}

/* Puts a complete slot in. False: the table is (nearly) full, or the key is there. */
static bool insert(struct table *to, const struct slot *slot)
{
	if (tpc_load(&to->used) >= to->capacity / 4 * 3)
		return false;
	for (uint64_t i = hash(slot->key);; i++) {
		struct slot *at = &to->slots[i & (to->capacity - 1)];
		uint64_t key = tpc_load_acquire(&at->key);

		if (key == slot->key) {
			if (tpc_load_acquire(&at->number))
				return false;
			/* Claimed and not filled: about to be, or left so by a longjmp. Either way it is not needed. */
			tpc_swap_if(&at->key, key, GONE);
			continue;
		}
		if (key || !tpc_swap_if(&at->key, (uint64_t)0, slot->key))
			continue;
		tpc_add(&to->used, 1);
		put_rule(at, slot->rule);
		tpc_store_release(&at->number, slot->number); /* pairs with lookup(): the rule is there */
		return true;
	}
}

static bool lookup(const struct table *in, uint64_t key, struct tpc_frame *frame)
{
	for (uint64_t i = hash(key);; i++) {
		const struct slot *at = &in->slots[i & (in->capacity - 1)];
		uint64_t there = tpc_load_acquire(&at->key);

		if (there == key) {
			frame->number = tpc_load_acquire(&at->number);
			if (!frame->number)
				return false;
			frame->rule = rule_of(at);
			/* Asked again: a table that was retired meanwhile has turned to zeros. */
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			return tpc_load(&at->number) == frame->number;
		}
		if (!there)
			return false;
	}
}

static bool is_live(const struct slot *slot)
{
	uint64_t key = tpc_load_acquire(&slot->key);

	return key > GONE && tpc_load_acquire(&slot->number);
}

/* Twice the room, or as much again without what was purged. */
static struct table *make_for(const struct table *old)
{
	uint64_t live = 0;

	if (!old)
		return make(FIRST_CAPACITY);
	for (uint64_t i = 0; i < old->capacity; i++)
		live += is_live(&old->slots[i]);
	return make(live > old->capacity / 4 ? old->capacity * 2 : old->capacity);
}

static void copy(struct table *to, const struct table *from)
{
	for (uint64_t i = 0; i < from->capacity; i++) {
		struct slot slot = { .key = tpc_load_acquire(&from->slots[i].key),
				     .number = tpc_load_acquire(&from->slots[i].number) };

		if (slot.key <= GONE || !slot.number)
			continue;
		slot.rule = rule_of(&from->slots[i]); /* there, as the number is */
		insert(to, &slot);
	}
}

/*
 * What was purged since *seen purges. Not in `old` any more: it was purged after it had been copied, or came later and is worked
 * out again.
 */
static void drop_purged(struct table *in, const struct table *old, uint32_t *seen)
{
	uint32_t now = __atomic_load_n(&purges, __ATOMIC_SEQ_CST);
	struct tpc_frame frame;

	for (uint64_t i = 0; now != *seen && i < in->capacity; i++) {
		uint64_t key = tpc_load_acquire(&in->slots[i].key);

		if (key > GONE && !lookup(old, key, &frame))
			tpc_store(&in->slots[i].key, GONE);
	}
	*seen = now;
}

/*
 * What other threads insert into the old table meanwhile may be missing in the new one: it is then worked out again, and
 * the frame has two numbers, which mean the same.
 */
static TPC_SLOW void grow(struct table *old)
{
	struct table *larger;
	uint32_t seen;

	if (!tpc_trylock_take(&growing))
		return;
	seen = __atomic_load_n(&purges, __ATOMIC_SEQ_CST);
	larger = old == tpc_load(&table) ? make_for(old) : NULL;
	if (larger && old) {
		copy(larger, old);
		drop_purged(larger, old, &seen); /* before anyone finds it: what is left for later is a moment's */
	}
	if (larger) /* pairs with tpc_frame_find(): it is filled; and with tpc_frames_purge(): either sees the other */
		__atomic_store_n(&table, larger, __ATOMIC_SEQ_CST);
	if (larger && old) {
		drop_purged(larger, old, &seen);
		tpc_space_retire(old, bytes_of(old->capacity), sizeof(*old));
	}
	tpc_trylock_end(&growing);
}

uint32_t tpc_frame_number(void)
{
	return tpc_add(&numbers, 1) + 1;
}

bool tpc_frame_in_loop(uintptr_t at)
{
	bool loop = false;

	for (unsigned int i = 0; i < TPC_LOOP_PIECES; i++)
		loop |= tpc_range_holds(tpc_frame_loop[i], at);
	return loop;
}

/* A return address is behind the call, which may be the function's last instruction. */
static uint8_t flags_of(uintptr_t pc, bool exact, const struct tpc_ruled *found)
{
	uintptr_t at = exact ? pc : pc - 1;
	bool untabled = found->module && found->rule.kind == TPC_RULE_NONE;

	return (uint8_t)((exact ? TPROF_FRAME_EXACT : 0) | (tpc_frame_in_loop(at) ? TPROF_FRAME_LOOP : 0) |
			 (untabled ? TPROF_FRAME_UNTABLED : 0));
}

static TPC_SLOW struct tpc_frame work_out(uintptr_t pc, bool exact, uint64_t key)
{
	struct tpc_ruled found = tpc_rule_lately(pc, exact);
	struct slot slot = { .key = key, .rule = found.rule, .number = tpc_frame_number() };
	struct table *to = tpc_load_acquire(&table);

	tpc_table_frame(slot.number, found.module, found.module ? pc - found.start : pc, flags_of(pc, exact, &found));
	if (!to || tpc_load(&to->used) >= to->capacity / 4 * 3) {
		grow(to);
		to = tpc_load_acquire(&table);
	}
	if (to)
		insert(to, &slot);
	return (struct tpc_frame){ slot.rule, slot.number };
}

/* While a dlclose is under way: is it still the object's that the frame was worked out for? If not, it is forgotten. */
static TPC_SLOW bool is_current(uintptr_t pc, const struct tpc_frame *frame)
{
	if ((uint16_t)tpc_module_find(pc).module == frame->rule.module)
		return true;
	tpc_frames_purge(pc, pc + 1);
	return false;
}

struct tpc_frame tpc_frame_find(uintptr_t pc, bool exact)
{
	uint64_t key = (uint64_t)pc << 1 | exact;
	const struct table *in = tpc_load_acquire(&table);
	struct tpc_frame frame;

	if (tpc_likely(in && lookup(in, key, &frame)) &&
	    (tpc_likely(!tpc_modules_unsettled()) || is_current(pc, &frame)))
		return frame;
	return work_out(pc, exact, key);
}

struct tpc_frame tpc_frame_find_anew(struct tpc_frames_set *set, uintptr_t pc)
{
	struct tpc_frame found = tpc_frame_find(pc, false);

	set->pcs[1] = set->pcs[0];
	set->frames[1] = set->frames[0];
	set->pcs[0] = pc;
	set->frames[0] = found;
	return found;
}

bool tpc_frame_known(uintptr_t pc, struct tpc_frame *frame)
{
	const struct table *in = tpc_load_acquire(&table);

	return in && lookup(in, (uint64_t)pc << 1, frame);
}

void tpc_frames_purge(uintptr_t start, uintptr_t end)
{
	struct table *in;

	do { /* again if the table grew meanwhile: the copy may hold what was just purged */
		in = __atomic_load_n(&table, __ATOMIC_SEQ_CST);
		for (uint64_t i = 0; in && i < in->capacity; i++) {
			uint64_t key = tpc_load(&in->slots[i].key);

			if (key > GONE && key >> 1 >= start && key >> 1 < end)
				tpc_store(&in->slots[i].key, GONE);
		}
		/* Pairs with grow(), which publishes a copy and then loads this: it sees that something was purged, or the
		 * copy is seen here. */
		__atomic_fetch_add(&purges, 1, __ATOMIC_SEQ_CST);
	} while (in != __atomic_load_n(&table, __ATOMIC_SEQ_CST));
}

void tpc_frames_forget(void)
{
	if (table)
		tpc_space_give_back(table, bytes_of(table->capacity));
	table = NULL;
	growing = 0;
	numbers = 0;
}
