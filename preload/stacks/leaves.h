/* SPDX-License-Identifier: Apache-2.0 */
/* What a walk loaded, packed into a leaf and its pieces (stacks/recall.h), and read again. */
#ifndef TPROF_STACKS_LEAVES_H
#define TPROF_STACKS_LEAVES_H

#include "stacks/recall.h"

/* Words that a walk takes in words[] at most. */
size_t tp_leaf_most(const struct tp_outcome *outcome);

/* Packs a walk into words[], where there is room. Where its leaf is; 0: it has no short form. */
uint32_t tp_leaf_write(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome);

/* A walk's words, one after the other. */
struct tp_leaf_cursor {
	const struct tp_recall *recall;
	const struct tp_recall_piece *piece; /* NULL: before the first */
	const uint16_t *further;
	const uint64_t *base;
	uint32_t at;
};

struct tp_leaf_cursor tp_leaf_begin(const struct tp_recall *recall, const struct tp_recall_leaf *leaf);

/* The next return address and where it stood. False: that was the last. */
bool tp_leaf_next_return(struct tp_leaf_cursor *cursor, struct tp_word *word);

static inline struct tp_recall_leaf *tp_leaf_at(const struct tp_recall *recall, uint32_t to)
{
	return (struct tp_recall_leaf *)((uintptr_t)recall->words + (to & ~TP_RECALL_LEAF));
}

#endif
