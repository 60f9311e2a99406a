/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates of sums over all blocks when allocations were sampled by bytes, with a mean m. A block of s bytes is
 * recorded with probability p = 1 - exp(-s / m), independently of all others. m is header.sample_bytes. In a trace with
 * header.max_overhead it changes as the program runs, and each block has the one by which it was sampled (block->mean); while
 * all blocks are recorded, p is 1. The sum of x / p over the
 * recorded blocks is an unbiased estimate of the sum of x over all blocks. The sum of x^2 (1 - p) / p^2 over them
 * estimates its variance (Horvitz, Thompson 1952).
 *
 * The estimates are kept beside the exact counts, which still count what was recorded. A replay of an exact trace pays
 * one branch for this.
 */
#ifndef TPROF_MODEL_HEAP_ESTIMATE_H
#define TPROF_MODEL_HEAP_ESTIMATE_H

#include "model/heap/live.h"
#include "model/heap/heap.h"

struct tpa_archive;

struct tpa_estimate {
	double value, variance;
};

struct tpa_amount_estimate {
	struct tpa_estimate bytes, blocks, usable;
};

/* Estimates of what sites.h counts for a site, and replay.c for a process. */
struct tpa_estimate_state {
	struct tpa_amount_estimate live, peak, before, allocated;
	struct tpa_estimate frees, short_lived;
	uint64_t peak_number; /* sites only: the number of the peak that `peak` is of */
};

struct tpa_estimates {
	double mean; /* of blocks that don't have their own, in bytes; 0: allocations were not sampled, and the rest is unused */
	/*
	 * The largest mean by which blocks may have been left out so far, in bytes; 0: all blocks were recorded, so the
	 * estimates are the exact numbers
	 */
	double widest;
	struct tpa_estimate by_chance; /* the blocks that were not certain to be recorded, among all.allocated.blocks */
	struct tpa_estimate_state all, *sites;
	size_t count, room; /* of `sites`, which is indexed by site number */
};

/* Makes room for site numbers below `count`. */
void tpa_estimates_reserve(struct tpa_estimates *estimates, size_t count);
void tpa_estimates_free(struct tpa_estimates *estimates);

/* Blocks may have been left out, as they were sampled by that mean: MEAN of trace/events.h. */
void tpa_estimates_sampled(struct tpa_estimates *estimates, unsigned mean);

/* The probability with which a block of that size and MEAN was recorded: above 0. */
double tpa_estimates_chance(const struct tpa_estimates *estimates, uint64_t size, unsigned mean);

/* Saves the estimates, or loads them. When loading, only `mean` and `widest` may be set. */
void tpa_estimates_archive(struct tpa_archive *archive, struct tpa_estimates *estimates);

/*
 * Adds a block to what is live (`sign` 1), or removes it (-1). `before`: the block was allocated before the selected
 * time range.
 */
void tpa_estimates_live(struct tpa_estimates *estimates, const struct tpa_block *block, double sign, bool before,
			uint64_t peak_number);
/* Makes what is live now the peak of the whole process. */
void tpa_estimates_peak(struct tpa_estimates *estimates);
void tpa_estimates_allocated(struct tpa_estimates *estimates, const struct tpa_block *block);
/* Counts a free (`sign` 1), or takes back one that did not happen (-1). */
void tpa_estimates_freed(struct tpa_estimates *estimates, const struct tpa_block *block, bool short_lived, double sign);

/*
 * Adds `x` of one block, which was recorded with the probability p, to an estimate. A negative `x` takes back what its
 * absolute value added.
 */
void tpa_estimate_add(struct tpa_estimate *estimate, double p, double x);

/* Replaces counts with their estimates, and fills in their variances. Counts that are unknown in a sampled run become 0. */
void tpa_estimates_site(struct tpa_estimates *estimates, size_t number, uint64_t peak_number, struct tpa_site *site,
			struct tpa_variance *variance);
void tpa_estimates_heap(const struct tpa_estimates *estimates, struct tpa_heap *heap);
/* What one more recorded block would stand for. */
struct tpa_unseen tpa_estimates_unseen(const struct tpa_estimates *estimates);

#endif
