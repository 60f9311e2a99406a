/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/names.h"

#include "core/hash.h"
#include "core/space.h"
#include "core/tables.h"

#define CAPACITY 65536u /* slots; at most three quarters are used */
#define TEXT_MAX 255u

struct slot {
	tpc_shared_u64 key;    /* hash of name, category and origin; 0: empty */
	tpc_shared_u32 number; /* 0: claimed, not yet published */
};

static TPC_SHARED(struct slot *) slots; /* make_slots() pairs with the loads that acquire */
static tpc_shared_u32 numbers;		/* that were handed out */

static struct slot *make_slots(void)
{
	struct slot *made = tpc_space_take(CAPACITY * sizeof(*made));

	if (made && !tpc_swap_if(&slots, NULL, made))
		tpc_space_give_back(made, CAPACITY * sizeof(*made)); /* another thread was first */
	return tpc_load_acquire(&slots);
}

uint32_t tpc_op_number(const char *name, const char *category, enum tprof_op_origin origin)
{
	struct slot *all = tpc_load_acquire(&slots);
	struct tpc_op_record record = { .origin = (uint8_t)origin, .category = category ? category : "", .name = name };
	uint64_t key;

	if (!all && !(all = make_slots()))
		return 0;
	record.category_length = strnlen(record.category, TEXT_MAX);
	record.name_length = strnlen(name, TEXT_MAX);
	key = tpc_hash_bytes(UINT64_C(0xcbf29ce484222325) + origin, name, record.name_length);
	key = tpc_hash_bytes(key, record.category, record.category_length) | 1;
	for (uint64_t i = key >> 20;; i++) {
		struct slot *at = &all[i % CAPACITY];
		uint64_t there = tpc_load_acquire(&at->key);

		/* Acquire pairs with the release below. If a number is missing, another one is made; it means the same. */
		if (there == key && tpc_load_acquire(&at->number))
			return tpc_load(&at->number);
		if (there && there != key)
			continue;
		if (tpc_load(&numbers) >= CAPACITY / 4 * 3)
			return 0;
		record.op = tpc_add(&numbers, 1) + 1;
		tpc_table_op(&record);
		if (tpc_swap_if(&at->key, 0, key))
			tpc_store_release(&at->number, record.op);
		return record.op;
	}
}

uint32_t tpc_op_new_number(void)
{
	return tpc_load(&numbers) < CAPACITY / 4 * 3 ? tpc_add(&numbers, 1) + 1 : 0;
}

void tpc_ops_forget(void)
{
	if (tpc_unshared(slots))
		tpc_space_give_back(tpc_unshared(slots), CAPACITY * sizeof(struct slot));
	tpc_unshared(slots) = NULL;
	tpc_unshared(numbers) = 0;
}
