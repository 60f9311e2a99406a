/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's memory of stacks that it was on before, so that coming back to one costs a check instead of a walk.
 *
 * A walk is a function of the registers that it starts with and of the words that it loads: return addresses, and saved
 * fp's that matter. Two walks that start at the same PC and stack pointer load the same slots until one of them holds
 * another value: there they part. So the known stacks of one start form a trie over slots, with a branch only where two
 * of them part (Morrison's PATRICIA, JACM 15(4), 1968): a look-up loads the slots of the branches on its way, and what it
 * arrives at is then compared in full, one load and one compare a word. A stack is recalled only when every word that its
 * walk depended on is as it was: exact.
 *
 * Each branch on the way is found by what the one before it said: a chain of loads that nothing can overlap. So where there
 * are several, the words that they ask are loaded at once and hashed together, and a table of shortcuts says where that led
 * last time. What it says is checked like any other stack; if it was wrong or has nothing to say, the trie is gone through.
 *
 * Stacks have most of their words in common, so these are kept once: they are in pieces of sixteen, counted from the outer
 * end, and stacks that have a piece in common share it (hash-consing: Ershov, CACM 1(8), 1958). What is compared most stays
 * in the cache, and what is a stack's alone is a leaf of one cache line. It lists its pieces, so that none of them is waited
 * for to know where the next one is.
 *
 * What is outside of a hooked call stays as it is until that call ends: nothing there runs. A call's frame holds a stamp
 * that no other call ever had. So once a stack with that call in it was compared in full, of the next such stack only the
 * words as far as the call's frame are compared, and the stamp: if they are the same, that very call is still there, and
 * what was outside of it. Then it is enough that both have their outer pieces in common. Taken is the outermost call
 * that has not called back into Python: so what is said of it holds for Python's frames too.
 *
 * One for each thread, used by that thread alone. It holds some thousand stacks; when it is full it starts over.
 */
#ifndef TPROF_STACKS_RECALL_H
#define TPROF_STACKS_RECALL_H

#include "stacks/recall_store.h"

void tpc_recall_clear(struct tpc_recall *recall);

/* Multiplicative hashing (Knuth, TAOCP 6.4). Two keys that meet cost a failed check, no more. */
static inline uint64_t tpc_recall_start_key(uintptr_t pc, uintptr_t sp)
{
	return (pc ^ sp << 17) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static inline uint64_t tpc_recall_value_key(uint32_t branch, uint64_t value)
{
	return (value ^ (uint64_t)branch << 45) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

/* The edge of that key; NULL: there is none. */
TPC_HOT const struct tpc_recall_edge *tpc_recall_edge(const struct tpc_recall *recall, uint64_t key)
{
	for (uint64_t at = key >> 36;; at += sizeof(struct tpc_recall_edge)) {
		const struct tpc_recall_edge *edge =
			(const void *)((const char *)recall->edges + (at & recall->edge_mask));

		if (tpc_likely(edge->key == key))
			return edge;
		if (!edge->key)
			return NULL;
	}
}

/* A start's fork, if it has one. */
TPC_HOT const struct tpc_recall_fork *tpc_recall_fork_at(const struct tpc_recall *recall, uint64_t key)
{
	return &recall->forks[key >> 9 & (TPC_RECALL_FORKS - 1)];
}

/* Of the words that the fork's branches ask; they can be read. Two multiplications side by side. */
TPC_HOT uint64_t tpc_recall_hash(const struct tpc_recall_fork *fork, uintptr_t sp)
{
	const uint64_t *words = (const uint64_t *)sp - 1;
	uint64_t inner = words[fork->asked[0]], outer = words[fork->asked[2]];

	inner ^= words[fork->asked[1]] << 32 | words[fork->asked[1]] >> 32;
	outer ^= words[fork->asked[3]] << 32 | words[fork->asked[3]] >> 32;
	return (fork->key ^ inner * UINT64_C(0x9e3779b97f4a7c15)) + outer * UINT64_C(0xd1342543de82ef95);
}

/* Where the shortcut leads; 0: there is none. Without a branch that could be foretold wrongly, but for that. */
TPC_HOT uint32_t tpc_recall_shortcut(const struct tpc_recall *recall, const struct tpc_start *start, uint64_t key)
{
	const struct tpc_recall_fork *fork = tpc_recall_fork_at(recall, key);
	const struct tpc_recall_shortcut *shortcut;
	uint64_t hash, first, to;

	if (tpc_unlikely(fork->key != key ||
			 start->sp + fork->asked[TPC_RECALL_ASKED - 1] * sizeof(uint64_t) > start->high))
		return 0;
	hash = tpc_recall_hash(fork, start->sp);
	shortcut = &recall->shortcuts[hash >> (64 - TPC_RECALL_SHORTCUT_BITS)];
	hash &= UINT64_C(0xffffffff00000000);
	first = shortcut->ways[0] ^ hash;
	to = shortcut->ways[1] ^ hash;
	to ^= (to ^ first) &
	      (uint64_t)((int64_t)((first >> 32) - 1) >> 63); /* `first` if its upper half is 0: no branch */
	return to <= UINT32_MAX ? (uint32_t)to : 0;
}

/*
 * Is each word as it was that the leaf's walk loaded, as far as the piece `end`, which is not its first (0: to the end)? Apart: it
 * needs all registers that a call may change, and what the rest of a hook needs would be in memory.
 */
TPC_APART bool tpc_recall_same(const struct tpc_recall *recall, const struct tpc_recall_leaf *leaf, uint32_t end);

/* Is it the leaf of the stack that the thread is on? */
TPC_HOT bool tpc_recall_is(struct tpc_recall *recall, const struct tpc_recall_leaf *leaf, const struct tpc_start *start)
{
	uint64_t stamp = 0;
	uint16_t end = 0;

	if (tpc_unlikely(leaf->pc != start->pc || leaf->sp != start->sp || start->sp + leaf->top > start->high))
		return false;
	if (leaf->held) {
		stamp = *(const uint64_t *)(start->sp + leaf->stamp);
		if (stamp && stamp == recall->stamp && leaf->held == recall->held)
			end = leaf->pieces[leaf->first];
	}
	if (tpc_unlikely(((leaf->bp ^ start->bp) & (uintptr_t)(intptr_t)leaf->bp_matters) ||
			 !tpc_recall_same(recall, leaf, end)))
		return false;
	recall->stamp = stamp;
	recall->held = leaf->held;
	return true;
}

/* A leaf and the piece that stands behind it if it is its own, or a piece; `to` in bytes. Of 0: a line that is nobody's. */
TPC_HOT void tpc_recall_fetch(const struct tpc_recall *recall, uint32_t to)
{
	const char *at = (const char *)recall->words + to;

	__builtin_prefetch(at);
	__builtin_prefetch(at + 64);
	__builtin_prefetch(at + 128);
}

/*
 * Where the leaf of the stack that the thread is on most probably is; 0: nowhere, or only the branches tell. Nothing is
 * checked yet, but where it is one of many, what tpc_recall_is() will look at is on its way into the cache: it is worth
 * asking early. Some 25 instructions, 35 more where there are branches.
 */
TPC_HOT uint32_t tpc_recall_guess(const struct tpc_recall *recall, const struct tpc_start *start)
{
	uint64_t key = tpc_recall_start_key(start->pc, start->sp);
	const struct tpc_recall_edge *edge = tpc_recall_edge(recall, key);
	uint32_t to;

	if (tpc_unlikely(!edge))
		return 0;
	if (edge->to & TPC_RECALL_LEAF)
		return edge->to;
	to = tpc_recall_shortcut(recall, start, key);
	tpc_recall_fetch(recall, to ? tpc_recall_leaf_at(recall, to)->pieces[0] * 64u : 0);
	return to;
}

/*
 * The leaf, by the branches; NULL: it is not known. `wrong`: a guess that was wrong, or 0. Scalars: a struct would be in
 * memory on the shortest way too.
 */
TPC_APART const struct tpc_recall_leaf *tpc_recall_find_long(struct tpc_recall *recall, uintptr_t pc, uintptr_t sp,
							     uintptr_t bp, uintptr_t high, uint32_t not );

/* The leaf of the stack that the thread is on; NULL: it is not known. */
static inline const struct tpc_recall_leaf *tpc_recall_find(struct tpc_recall *recall, const struct tpc_start *start)
{
	uint32_t to = tpc_recall_guess(recall, start);

	if (tpc_unlikely(!to || !tpc_recall_is(recall, tpc_recall_leaf_at(recall, to), start)))
		return tpc_recall_find_long(recall, start->pc, start->sp, start->bp, start->high, to);
	recall->last = to;
	return tpc_recall_leaf_at(recall, to);
}

/* ---- what follows what ---- */

/*
 * A program that trains or serves does the same things over and over, and its own data pushes ours out of the processor's
 * caches each time round. So a leaf knows which one came next, and that one is fetched while the program goes on, and is
 * what the next walk looks at first. A wrong guess costs time, no more.
 */
#define TPC_RECALL_TWICE 2u /* wrong in a row, or nearly: the end of a loop is no reason to forget how it goes */

/*
 * What is learned from: one in four of those that were not expected, so that a loop is known after some rounds. Of stacks that
 * have no order hardly any pays, and the processor foretells wrongly which: one in 64 in the end. A new order, where all that was
 * known is wrong once, is not that yet.
 */
#define TPC_RECALL_PACE 4u
#define TPC_RECALL_PACE_MOST 64u
#define TPC_RECALL_PACE_STEP 256u /* in vain */
#define TPC_RECALL_OF_USE 32u	  /* in vain, made good by one that was of use */

/* `last` came after `before`, and was not what was expected. As chance will have it: of a loop, not the same ones always. */
TPC_SLOW void tpc_recall_learn(struct tpc_recall *recall, uint32_t before);

/* After each walk: what comes next is expected. `before`: recall.last before it. */
TPC_HOT void tpc_recall_follow(struct tpc_recall *recall, uint32_t before)
{
	uint32_t last = recall->last, expected = 0;

	if (before == last && recall->expected == last && last)
		return; /* the same again, as was expected: so it will be */
	if (tpc_unlikely(!recall->expected || recall->expected != last)) {
		if (tpc_unlikely(recall->patience-- == 0))
			tpc_recall_learn(recall, before);
	}
	if (tpc_likely(last)) {
		const struct tpc_recall_leaf *leaf = tpc_recall_leaf_at(recall, last);

		if (leaf->sure)
			expected = leaf->next;
		if (expected && expected != last) /* else all of it is at hand */
			tpc_recall_fetch(recall, expected);
	}
	recall->expected = expected;
}

/* Remembers a walk that tpc_recall_find() did not know. One that has no short form is left out. */
void tpc_recall_add(struct tpc_recall *recall, const struct tpc_start *start, const struct tpc_outcome *outcome);

/* The stack recalled last, as program counters, innermost first; for tests. */
size_t tpc_recall_last(const struct tpc_recall *recall, uintptr_t *pcs, size_t max);

#endif
