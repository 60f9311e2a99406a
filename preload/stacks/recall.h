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

#include "core/base.h"

#define TPC_RECALL_WORDS 122880u /* 960 KiB */
#define TPC_RECALL_EDGES 8192u	 /* 128 KiB; a power of two */

#define TPC_RECALL_LEAF 1u
#define TPC_RECALL_GROUP 4u
#define TPC_RECALL_PIECE 16u				/* words, in four groups */
#define TPC_RECALL_LINE 8u				/* words in a cache line */
#define TPC_RECALL_STAMP 80u				/* bytes below a hooked call's fp: its stamp. 0: it has none */
#define TPC_RECALL_FAR (UINT16_MAX * sizeof(uintptr_t)) /* the largest step, in bytes */

#define TPC_RECALL_FORKS 512u /* 8 KiB */
#define TPC_RECALL_ASKED 4u
#define TPC_RECALL_SHORTCUT_BITS 11 /* 32 KiB */
#define TPC_RECALL_SHARED_BITS 11   /* 8 KiB */
#define TPC_RECALL_ENDS_BITS 8	    /* 2 KiB */

struct tpc_recall_edge {
	uint64_t key;	   /* 0: unused */
	uint32_t to;	   /* a branch: twice its place in words[]; with TPC_RECALL_LEAF a leaf: its place in bytes */
	uint32_t distance; /* of a branch: from the start's sp to the slot that it asks, in bytes */
};

/*
 * In words[], from the end downwards, a branch is one word: the leaf that stands for all below it. From the beginning on, at
 * cache lines, leaves and pieces. A piece is words that a walk loaded, slots ascending, in whole groups: a group is four values
 * and where they stood. Its first slot is counted in words from the first of the group before (or the piece's first), the
 * others from its own first. The innermost piece of a leaf may have fewer groups, of which the last is filled up with what it
 * begins with. A leaf says where its pieces are, in cache lines; of six, as of most, that is in its own first line.
 */
struct tpc_recall_group {
	uint64_t values[TPC_RECALL_GROUP];
	uint16_t steps[TPC_RECALL_GROUP];
};

struct tpc_recall_piece {
	uintptr_t base;	 /* its first slot */
	uint32_t others; /* a bit for each word that is no return address */
	uint32_t words;
	struct tpc_recall_group group[TPC_RECALL_PIECE / TPC_RECALL_GROUP];
} __attribute__((aligned(64)));

struct tpc_recalled { /* what comes of a walk; what `flags` mean is the walker's business */
	uint32_t node, flags;
};

struct tpc_recall_leaf {
	uintptr_t pc, sp, bp;
	uint32_t top;	/* behind the outermost slot, in bytes from sp */
	uint32_t stamp; /* the hooked call's; likewise */
	struct tpc_recalled result;
	uint32_t next;	   /* the leaf that came next; 0: not known */
	uint16_t held;	   /* all that is outside of that call, as a number of its own; 0: there is no such call */
	uint8_t first;	   /* which piece that begins with */
	int8_t bp_matters; /* -1 if it does, else 0 */
	uint8_t groups;	   /* of the innermost piece */
	uint8_t sure;	   /* how often it may be wrong of what comes next; 0: nothing is expected */
	uint16_t pieces[]; /* where they are, from the inside outwards, and a 0; of none: two */
} __attribute__((aligned(64)));

/* A start with several branches below it. */
struct tpc_recall_fork {
	uint64_t key; /* the start's; 0: unused */
	uint16_t asked
		[TPC_RECALL_ASKED]; /* what they ask, in words behind the return address below sp, ascending; 0: itself */
};

/* Where two leaves are, each with the upper half of its hash above; 0: nowhere. The one that came later first. */
struct tpc_recall_shortcut {
	uint64_t ways[2];
};

/* An outer end: a piece, and the end outside of it, and its own number. */
struct tpc_recall_end {
	uint16_t piece, outer, number;
};

/* All zero is an empty one, but for `used` and `edge_mask`: call tpc_recall_clear(). */
struct tpc_recall {
	struct tpc_recall_edge edges[TPC_RECALL_EDGES];
	uint64_t words[TPC_RECALL_WORDS] __attribute__((aligned(64)));
	struct tpc_recall_fork forks[TPC_RECALL_FORKS];
	struct tpc_recall_shortcut shortcuts[1u << TPC_RECALL_SHORTCUT_BITS];
	uint16_t shared[1u << TPC_RECALL_SHARED_BITS][2]; /* pieces that were asked for lately, the last one first */
	struct tpc_recall_end ends[1u << TPC_RECALL_ENDS_BITS]; /* the same of outer ends */
	uint32_t end_count;					/* numbers given to ends */
	uint32_t used;						/* words, from the beginning */
	uint32_t branches;					/* and from the end */
	uint32_t edge_count;
	uint32_t edge_mask;	 /* of an edge's place in edges[], in bytes: those in use lie close together */
	uint32_t last;		 /* where the leaf that was recalled last is; 0: the last walk was none of them */
	uint32_t written;	 /* where the leaf that was written last is; 0: nowhere */
	uint32_t written_pieces; /* and how many it has */
	uint32_t descents;	 /* past a branch */
	uint32_t drawn;		 /* a random number */
	uint32_t in_vain;	 /* how often lately what was learned was of no use */
	uint32_t patience;	 /* what is not expected, and not learned from: so many are to come yet */
	uint32_t age;		 /* how often it was cleared: what was where before is not there any more */
	uint32_t expected; /* the leaf of the stack that comes next, to who knows what follows what; 0: not known */
	uint32_t held;	   /* the leaf's that was recalled last */
	uint64_t stamp;	   /* of the hooked call on that stack; 0: none, or it is not known */
};

/* The code that hooked functions are called from, with frames that hold a stamp; no bytes: no call holds anything. */
extern struct tpc_recall_calls {
	uintptr_t at, bytes;
} tpc_recall_calls;

/* From now on calls from there hold what is outside of them, unless tpc_recall_hold_nothing() was called. One thread at a
 * time calls these. */
void tpc_recall_hold(uintptr_t code, size_t bytes);

/* From now on none does: stacks change outside of calls that last. What is remembered must be forgotten then. */
void tpc_recall_hold_nothing(void);

struct tpc_start { /* where a walk starts, and how far up its stack goes */
	uintptr_t pc, sp, bp, high;
};

struct tpc_word { /* what a walk loaded */
	uintptr_t slot, value;
};

void tpc_recall_clear(struct tpc_recall *recall);

_Static_assert(TPC_RECALL_WORDS / TPC_RECALL_LINE <= UINT16_MAX, "each cache line of words[] has a number");

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

TPC_HOT const struct tpc_recall_leaf *tpc_recall_leaf_at(const struct tpc_recall *recall, uint32_t to)
{
	return (const void *)((const char *)recall->words + (to - TPC_RECALL_LEAF));
}

/* `place` is one of leaf->pieces. */
TPC_HOT const struct tpc_recall_piece *tpc_recall_piece_at(const struct tpc_recall *recall, uint16_t place)
{
	return (const void *)(recall->words + (size_t)place * TPC_RECALL_LINE);
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

/* A walk's outcome: what is remembered of it. */
struct tpc_outcome {
	const struct tpc_word *returns; /* innermost first, slots ascending */
	size_t return_count;
	const struct tpc_word *others; /* saved fp's and CFAs, slots ascending */
	size_t other_count;
	bool needs_bp; /* it depends on start.bp */
	struct tpc_recalled result;
};

/* Remembers a walk that tpc_recall_find() did not know. One that has no short form is left out. */
void tpc_recall_add(struct tpc_recall *recall, const struct tpc_start *start, const struct tpc_outcome *outcome);

/* The stack recalled last, as program counters, innermost first; for tests. */
size_t tpc_recall_last(const struct tpc_recall *recall, uintptr_t *pcs, size_t max);

#endif
