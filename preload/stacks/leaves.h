/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk loaded, packed into a leaf and its pieces (stacks/recall.h), and read again. */
#ifndef TPROF_STACKS_LEAVES_H
#define TPROF_STACKS_LEAVES_H

#include "stacks/recall_store.h"

/* Words that a walk takes in words[] at most. */
size_t tpc_leaf_most(const struct tpc_outcome *outcome);

/* Packs a walk into words[], where there is room. Where its leaf is; 0: it has no short form. */
uint32_t tpc_leaf_write(struct tpc_recall *recall, const struct tpc_start *start, const struct tpc_outcome *outcome);

/* A walk's words, one after the other. */
struct tpc_leaf_cursor {
	const struct tpc_recall *recall;
	const struct tpc_recall_piece *piece; /* NULL: before the first */
	const uint16_t *further;
	const uint64_t *base;
	uint32_t at;
};

struct tpc_leaf_cursor tpc_leaf_begin(const struct tpc_recall *recall, const struct tpc_recall_leaf *leaf);

/* The next return address and where it stood. False: that was the last. */
bool tpc_leaf_next_return(struct tpc_leaf_cursor *cursor, struct tpc_word *word);

/*
 * From now on calls from that code, whose frames hold a stamp, hold what is outside of them, unless tpc_leaf_hold_nothing() was
 * called. One thread at a time calls these two.
 */
void tpc_leaf_hold(uintptr_t code, size_t bytes);

/* From now on none does: stacks change outside of calls that last. What is remembered must be forgotten then. */
void tpc_leaf_hold_nothing(void);

#endif
