/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that were sampled by bytes (header.sample_bytes, the mean m). A block of s bytes is in the trace with
 * probability p = 1 - exp(-s / m), independently of all others. So a sum over all blocks is estimated without bias by the
 * sum of x / p over the recorded ones, and the variance of that by the sum of x^2 (1 - p) / p^2 (Horvitz, Thompson 1952).
 *
 * This stands beside the exact counts, which go on to count what is recorded: an exact replay pays a branch for it.
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

/* What sites.h counts of a site, and replay.c of a process. */
struct tpa_estimate_state {
	struct tpa_amount_estimate live, peak, before, allocated;
	struct tpa_estimate frees, short_lived;
	uint64_t peak_number; /* of a site */
};

struct tpa_estimates {
	double mean; /* 0: nothing was sampled, and the rest is not used */
	struct tpa_estimate_state all, *sites;
	size_t count, room; /* of sites, by their numbers */
};

/* Makes room for sites up to `count`. */
void tpa_estimates_reserve(struct tpa_estimates *estimates, size_t count);
void tpa_estimates_free(struct tpa_estimates *estimates);

/* Saves, or loads into estimates that hold nothing but their mean. */
void tpa_estimates_archive(struct tpa_archive *archive, struct tpa_estimates *estimates);

/* A block begins to live (sign 1) or ceases to (-1); `before`: it is from before the time that is looked at. */
void tpa_estimates_live(struct tpa_estimates *estimates, const struct tpa_block *block, double sign, bool before,
			uint64_t peak_number);
/* What lives is the new peak. */
void tpa_estimates_peak(struct tpa_estimates *estimates);
void tpa_estimates_allocated(struct tpa_estimates *estimates, const struct tpa_block *block);
/* A free was counted, or (sign -1) did not happen. */
void tpa_estimates_freed(struct tpa_estimates *estimates, const struct tpa_block *block, bool short_lived, double sign);

/* Adds something that each block of that size has `x` of. */
void tpa_estimate_add(struct tpa_estimate *estimate, double mean, uint64_t size, double x);

/* Puts the estimates in the place of the counts. What is not known of a sampled run becomes 0. */
void tpa_estimates_site(struct tpa_estimates *estimates, size_t number, uint64_t peak_number, struct tpa_site *site);
void tpa_estimates_heap(const struct tpa_estimates *estimates, struct tpa_heap *heap);
/* What one block more in the sample would stand for. */
struct tpa_unseen tpa_estimates_unseen(const struct tpa_estimates *estimates);

#endif
