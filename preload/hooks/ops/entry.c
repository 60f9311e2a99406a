/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/entry.h"

#include "core/space.h"
#include "core/tables.h"
#include "hooks/ops/names.h"
#include "stacks/frames.h"

#define CAPACITY 32768u /* slots; at most three quarters are used */

struct slot {
	tpc_shared_u64 key;    /* 0: empty */
	tpc_shared_u32 number; /* 0: claimed, not yet published */
};

static TPC_SHARED(struct slot *) slots; /* make_slots() pairs with the loads that acquire */
static tpc_shared_u32 used;

static const char *const categories[] = { "", "openmp", "function", "openmp part" };

/* Addresses have 47 bits. After a dlclose another function may be there. */
static uint64_t key_of(uintptr_t function, enum tpc_entry entry)
{
	uint64_t epoch = tpc_load_acquire(&tpc_frames_epoch) & 0x3fff; /* pairs with tpc_frames_doubt() */

	return (uint64_t)function | epoch << 48 | (uint64_t)entry << 62;
}

static uint64_t place_of(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 49;
}

uint32_t tpc_entry_known(uintptr_t function, enum tpc_entry entry)
{
	struct slot *all = tpc_load_acquire(&slots);
	uint64_t key = key_of(function, entry);

	if (tpc_unlikely(!all))
		return 0;
	for (uint64_t i = place_of(key);; i++) {
		const struct slot *at = &all[i % CAPACITY];
		uint64_t there = tpc_load_acquire(&at->key);

		if (tpc_likely(there == key))
			return tpc_load_acquire(&at->number); /* pairs with publish() */
		if (!there)
			return 0;
	}
}

static struct slot *make_slots(void)
{
	struct slot *made = tpc_space_take(CAPACITY * sizeof(*made));

	if (made && !tpc_swap_if(&slots, NULL, made))
		tpc_space_give_back(made, CAPACITY * sizeof(*made)); /* another thread was first */
	return tpc_load_acquire(&slots);
}

static void publish(struct slot *all, uint64_t key, uint32_t number)
{
	for (uint64_t i = place_of(key);; i++) {
		struct slot *at = &all[i % CAPACITY];

		if (tpc_load_acquire(&at->key) == key || tpc_swap_if(&at->key, 0, key)) {
			tpc_store_release(&at->number,
					  number); /* another thread's number for the same function is as good */
			return;
		}
	}
}

uint32_t tpc_entry_number(uintptr_t function, enum tpc_entry entry)
{
	struct tpc_op_record record = { .origin = TPROF_OP_FUNCTION, .category = categories[entry] };
	struct slot *all = tpc_load_acquire(&slots);
	uint32_t known = tpc_entry_known(function, entry);

	if (known || (!all && !(all = make_slots())))
		return known;
	if (tpc_add(&used, 1) >= CAPACITY / 4 * 3)
		return 0;
	record.op = tpc_op_new_number();
	if (!record.op)
		return 0;
	record.category_length = strlen(record.category);
	tpc_table_op_code(&record, tpc_frame_find(function, true).number);
	publish(all, key_of(function, entry), record.op);
	return record.op;
}

void tpc_entry_forget(void)
{
	if (tpc_unshared(slots))
		tpc_space_give_back(tpc_unshared(slots), CAPACITY * sizeof(struct slot));
	tpc_unshared(slots) = NULL;
	tpc_unshared(used) = 0;
}
