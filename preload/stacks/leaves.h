/* SPDX-License-Identifier: Apache-2.0 */
/* Packs what a walk loaded into a leaf and its pieces (stacks/recall.h), and reads it again. */
#ifndef TPROF_STACKS_LEAVES_H
#define TPROF_STACKS_LEAVES_H

#include "stacks/recall_store.h"

/* How many words of words[] a walk takes at most. */
size_t tpc_leaf_most(const struct tpc_outcome *outcome);

/* Packs a walk into words[], which has room. Returns the place of its leaf; 0: it has no short form. */
uint32_t tpc_leaf_write(struct tpc_recall *recall, const struct tpc_start *start, const struct tpc_outcome *outcome);

/* Reads a walk's words one by one. */
struct tpc_leaf_cursor {
	const struct tpc_recall *recall;
	const struct tpc_recall_piece *piece; /* NULL: before the first */
	const uint16_t *further;
	const uint64_t *base;
	uint32_t at;
};

struct tpc_leaf_cursor tpc_leaf_begin(const struct tpc_recall *recall, const struct tpc_recall_leaf *leaf);

/* The next return address and its slot. False: that was the last. */
bool tpc_leaf_next_return(struct tpc_leaf_cursor *cursor, struct tpc_word *word);

/*
 * From now on, calls from that code, whose frames contain a stamp, hold what is outside of them, unless
 * tpc_leaf_hold_nothing() was called. These two are called by one thread at a time.
 */
void tpc_leaf_hold(uintptr_t code, size_t bytes);

/*
 * From now on no call holds anything: stacks change outside of calls in progress. The caller makes others forget what
 * they remember.
 */
void tpc_leaf_hold_nothing(void);

#endif
