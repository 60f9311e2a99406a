/* SPDX-License-Identifier: Apache-2.0 */
/* The memory behind stacks/recall.h: the edges of the trie, and below them leaves and the pieces that leaves share. */
#ifndef TPROF_STACKS_RECALL_STORE_H
#define TPROF_STACKS_RECALL_STORE_H

#include "core/base.h"

#include "core/assert.h"

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

_Static_assert(TPC_RECALL_WORDS / TPC_RECALL_LINE <= UINT16_MAX, "each cache line of words[] has a number");

struct tpc_start { /* where a walk starts, and how far up its stack goes */
	uintptr_t pc, sp, bp, high;
};

struct tpc_word { /* what a walk loaded */
	uintptr_t slot, value;
};

/* A walk's outcome: what is remembered of it. */
struct tpc_outcome {
	const struct tpc_word *returns; /* innermost first, slots ascending */
	size_t return_count;
	const struct tpc_word *others; /* saved fp's and CFAs, slots ascending */
	size_t other_count;
	bool needs_bp; /* it depends on start.bp */
	struct tpc_recalled result;
};

TPC_HOT struct tpc_recall_leaf *tpc_recall_leaf_at(const struct tpc_recall *recall, uint32_t to)
{
	tpc_assert(!to || (to % 64 == TPC_RECALL_LEAF && to / sizeof(uint64_t) < recall->used)); /* 0: not read then */
	return (struct tpc_recall_leaf *)((uintptr_t)recall->words + (to - TPC_RECALL_LEAF));
}

/* `place` is one of leaf->pieces; 0, of a leaf without any, is a line that nothing uses. */
TPC_HOT const struct tpc_recall_piece *tpc_recall_piece_at(const struct tpc_recall *recall, uint16_t place)
{
	tpc_assert((uint32_t)place * TPC_RECALL_LINE < recall->used);
	return (const void *)(recall->words + (size_t)place * TPC_RECALL_LINE);
}

#endif
