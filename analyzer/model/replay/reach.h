/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks can still be reached by pointers? A conservative search: each aligned word of the roots, and of the blocks that
 * are found, is taken for a pointer if it is the address of a block or of a place in one. The words for what comes out are
 * Valgrind's: still reachable, possibly lost (by pointers into a block's inside only), definitely lost (by none) and
 * indirectly lost (only from lost ones; of a cycle, one block is definitely lost). Pointers into the inside that C++ makes by rule
 * stand for the block (model/replay/interior.h).
 */
#ifndef TPROF_MODEL_REPLAY_REACH_H
#define TPROF_MODEL_REPLAY_REACH_H

#include "trace/trace.h"

struct tpa_reach_block {
	uint64_t address, size, time; /* time: of the allocation; tells a block from an earlier one at its address */
	uint32_t node, op;
	uint8_t reach; /* enum tprof_reach; 0: not searched yet */
};

struct tpa_reach_root {
	uint64_t low, high;
	bool exact_only; /* an allocator's own data: its pointers to free memory may point to a block's end */
};

/* Where the search begins: ranges of memory, and words that are in none, as registers. */
struct tpa_reach_roots {
	const struct tpa_reach_root *ranges;
	size_t range_count;
	const uint64_t *words;
	size_t word_count;
	const struct tprof_range *files; /* ranges mapped from files, in order: tables of virtual functions are there */
	size_t file_count;
};

/* Copies memory at `address`; returns the number of bytes copied. */
typedef size_t tpa_reach_read(void *context, uint64_t address, void *to, size_t size);

/*
 * Sorts the blocks by address and fills `reach` of each. They must not overlap.
 */
void tpa_reach_search(struct tpa_reach_block *blocks, size_t count, const struct tpa_reach_roots *roots,
		      tpa_reach_read *read, void *context);

/* The blocks that a process held at one moment, by its trace. */
struct tpa_reach_held {
	struct tpa_reach_block *blocks; /* in order of address */
	size_t count;
	struct tprof_range *mapped; /* by the program itself; in order */
	size_t mapped_count;
	/*
	 * Every block of the process is here: it did not begin as a fork, and was recorded from its start on, not paused
	 * or sampled; no event was lost.
	 */
	bool seamless;
};

void tpa_reach_held(struct tpa_trace *trace, uint64_t ticks, struct tpa_reach_held *held);
void tpa_reach_held_free(struct tpa_reach_held *held);

/*
 * A block that is lost now, but was not in the earlier search, may be pointed to by a register alone: it does not count as
 * lost.
 */
void tpa_reach_confirm(struct tpa_reach_block *blocks, size_t count, const struct tpa_reach_block *earlier,
		       size_t earlier_count);

#endif
