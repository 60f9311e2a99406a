/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table, without locks, of the frames that were worked out, by PC. A slot is claimed, filled, and published by
 * its key. Unloaded code is purged from the table, and the epoch tells others that remember something by PC.
 */
#ifndef TPROF_STACKS_FRAME_TABLE_H
#define TPROF_STACKS_FRAME_TABLE_H

#include "stacks/rule.h"

struct tpc_frame {
	struct tpc_rule rule;
	uint32_t number;
};

struct tpc_frame_slot {
	tpc_shared_u64 key; /* pc << 1 | exact; 0: empty; frame_table.c has two more */
	struct tpc_rule rule;
	tpc_shared_u32 number; /* never 0 once the key is published */
};

struct tpc_frame_table {
	uint64_t capacity; /* a power of two */
	tpc_shared_u64 used;
	struct tpc_frame_slot slots[];
};

static inline uint64_t tpc_frame_hash(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/*
 * Other threads may still use a table that is retired. A late writer stores into its zeros; a late reader that finds
 * this there looks again. ThreadSanitizer does not see the zeros appear.
 */
#define TPC_UNSEEN_ZEROS __attribute__((no_sanitize("thread")))

static inline TPC_UNSEEN_ZEROS struct tpc_rule tpc_frame_rule_of(const struct tpc_frame_slot *slot)
{
	return slot->rule;
}

TPC_HOT bool tpc_frame_table_look(const struct tpc_frame_table *in, uint64_t key, struct tpc_frame *frame)
{
	for (uint64_t i = tpc_frame_hash(key);; i++) {
		const struct tpc_frame_slot *at = &in->slots[i & (in->capacity - 1)];
		uint64_t there = tpc_load_acquire(&at->key);

		if (there == key) {
			frame->number = tpc_load(&at->number);
			if (!frame->number)
				return false;
			frame->rule = tpc_frame_rule_of(at);
			/* Checked again: a table that was retired meanwhile has turned to zeros. */
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			return tpc_load(&at->number) == frame->number;
		}
		if (!there)
			return false;
	}
}

typedef TPC_SHARED(struct tpc_frame_table *) tpc_frame_table_pointer;
extern tpc_frame_table_pointer tpc_frame_table TPC_NEAR; /* NULL: still empty */

/* `key`: as in struct tpc_frame_slot. */
TPC_HOT bool tpc_frame_table_find(uint64_t key, struct tpc_frame *frame)
{
	const struct tpc_frame_table *in =
		tpc_load_acquire(&tpc_frame_table); /* pairs with grow(): the table is filled */

	return tpc_likely(in) && tpc_frame_table_look(in, key, frame);
}

/* Adds a frame, unless there is no memory for it. */
TPC_SLOW void tpc_frame_table_add(uint64_t key, const struct tpc_frame *frame);

/* Forgets the PCs in [start, end): their object is gone. */
void tpc_frames_purge(uintptr_t start, uintptr_t end);

/* In a forked child. */
void tpc_frame_table_forget(void);

/* Changes with each unloading: what was remembered by PC may be wrong then. Read with acquire. */
extern tpc_shared_u32 tpc_frames_epoch TPC_NEAR;

/* What is remembered by PC, or of stacks, may be wrong from now on. */
static inline void tpc_frames_doubt(void)
{
	tpc_add_release(&tpc_frames_epoch, 1);
}

#endif
