/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's memory of stacks that it was on before, so that coming back to one costs a check instead of a walk.
 *
 * A walk is a function of the registers that it starts with and of the words that it loads: return addresses, and saved
 * rbp's that matter. Two walks that start at the same PC and stack pointer load the same slots until one of them holds
 * another value: there they part. So the known stacks of one start form a trie over slots, with a branch only where two
 * of them part (Morrison's PATRICIA, JACM 15(4), 1968): a look-up loads the slots of the branches on its way, and what it
 * arrives at is then compared in full, one load and one compare a word. A stack is recalled only when every word that its
 * walk depended on is as it was: exact.
 *
 * One for each thread, used by that thread alone. It holds about a thousand stacks; when it is full it starts over.
 */
#ifndef TPROF_STACKS_RECALL_H
#define TPROF_STACKS_RECALL_H

#include "core/base.h"

#define TP_RECALL_WORDS 122880u /* 960 KiB */
#define TP_RECALL_EDGES 8192u	/* 128 KiB; a power of two */

struct tp_recall_edge {
	uint64_t key; /* 0: unused */
	uint32_t to;  /* where in words[]; with TP_RECALL_LEAF */
	uint32_t unused;
};

/* All zero is an empty one, but for `used`: call tp_recall_clear(). */
struct tp_recall {
	uint32_t used; /* words */
	uint32_t edge_count;
	uint32_t last; /* the leaf that was recalled last */
	struct tp_recall_edge edges[TP_RECALL_EDGES];
	uint64_t words[TP_RECALL_WORDS];
};

struct tp_start { /* where a walk starts, and how far up its stack goes */
	uintptr_t pc, sp, bp, high;
};

struct tp_word { /* what a walk loaded */
	uintptr_t slot, value;
};

struct tp_recalled {
	uint32_t node; /* 0: not known */
	uint32_t flags;
};

void tp_recall_clear(struct tp_recall *recall);

struct tp_recalled tp_recall_find(struct tp_recall *recall, const struct tp_start *start);

/* A walk's outcome: what is remembered of it, in the order in which it was loaded. */
struct tp_outcome {
	const struct tp_word *returns; /* innermost first, slots ascending */
	size_t return_count;
	const struct tp_word *others; /* saved rbp's and CFAs, any order */
	size_t other_count;
	bool needs_bp; /* it depends on start.bp */
	struct tp_recalled result;
};

/* Remembers a walk that tp_recall_find() did not know. One that has no short form is left out. */
void tp_recall_add(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome);

/* The stack recalled last, as program counters, innermost first; for tests. */
size_t tp_recall_last(const struct tp_recall *recall, uintptr_t *pcs, size_t max);

#endif
