/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/stats/stats.h"
#include "base/archive.h"
#include "base/memory.h"
#include "trace/events.h"

void tpa_estimates_reserve(struct tpa_estimates *estimates, size_t count)
{
	tpa_extend(&estimates->sites, &estimates->count, &estimates->room, count, sizeof(*estimates->sites));
}

void tpa_estimates_free(struct tpa_estimates *estimates)
{
	free(estimates->sites);
}

/* A block of 0 bytes is never sampled. If a damaged trace has one, it counts as 1 byte, so that 1 / p stays finite. */
static double probability(double mean, uint64_t size)
{
	return -expm1(-(size ? (double)size : 1) / mean);
}

static double mean_of(const struct tpa_estimates *estimates, unsigned mean)
{
	if (mean == TPA_MEAN_UNSAID)
		return estimates->mean;
	return mean ? (double)(UINT64_C(1) << mean) : 0;
}

double tpa_estimates_chance(const struct tpa_estimates *estimates, uint64_t size, unsigned mean)
{
	double bytes = mean_of(estimates, mean);

	return bytes > 0 ? probability(bytes, size) : 1;
}

void tpa_estimates_sampled(struct tpa_estimates *estimates, unsigned mean)
{
	estimates->widest = fmax(estimates->widest, mean_of(estimates, mean));
}

/* `sign` -1 takes back what was added. */
static void add(struct tpa_estimate *estimate, double p, double x, double sign)
{
	estimate->value += sign * x / p;
	estimate->variance += sign * x * x * (1 - p) / (p * p);
}

void tpa_estimate_add(struct tpa_estimate *estimate, double p, double x)
{
	add(estimate, p, fabs(x), x < 0 ? -1 : 1);
}

static void add_block(struct tpa_amount_estimate *amount, double p, const struct tpa_block *block, double sign)
{
	add(&amount->bytes, p, (double)block->size, sign);
	add(&amount->blocks, p, 1, sign);
	add(&amount->usable, p, (double)tpa_slack_usable(block->size, block->slack), sign);
}

static void touch(struct tpa_estimate_state *site, uint64_t peak_number)
{
	if (site->peak_number != peak_number) {
		site->peak_number = peak_number;
		site->peak = site->live;
	}
}

void tpa_estimates_live(struct tpa_estimates *estimates, const struct tpa_block *block, double sign, bool before,
			uint64_t peak_number)
{
	struct tpa_estimate_state *site = &estimates->sites[block->site];
	double p = tpa_estimates_chance(estimates, block->size, block->mean);

	touch(site, peak_number);
	add_block(&site->live, p, block, sign);
	add_block(&estimates->all.live, p, block, sign);
	if (before) {
		add_block(&site->before, p, block, sign);
		add_block(&estimates->all.before, p, block, sign);
	}
}

void tpa_estimates_peak(struct tpa_estimates *estimates)
{
	estimates->all.peak = estimates->all.live;
}

void tpa_estimates_allocated(struct tpa_estimates *estimates, const struct tpa_block *block)
{
	double p = tpa_estimates_chance(estimates, block->size, block->mean);

	add_block(&estimates->sites[block->site].allocated, p, block, 1);
	add_block(&estimates->all.allocated, p, block, 1);
	if (block->mean)
		add(&estimates->by_chance, p, 1, 1);
}

void tpa_estimates_freed(struct tpa_estimates *estimates, const struct tpa_block *block, bool short_lived, double sign)
{
	struct tpa_estimate_state *site = &estimates->sites[block->site];
	double p = tpa_estimates_chance(estimates, block->size, block->mean);

	add(&site->frees, p, 1, sign);
	add(&estimates->all.frees, p, 1, sign);
	if (short_lived) {
		add(&site->short_lived, p, 1, sign);
		add(&estimates->all.short_lived, p, 1, sign);
	}
}

static void put(const struct tpa_estimate *estimate, uint64_t *value, double *variance)
{
	*value = tpa_round(estimate->value);
	*variance = fmax(estimate->variance, 0);
}

static struct tpa_estimate less(struct tpa_estimate a, struct tpa_estimate b)
{
	return (struct tpa_estimate){ a.value - b.value, a.variance - b.variance };
}

static struct tpa_amount_estimate at_end(const struct tpa_estimate_state *state)
{
	return (struct tpa_amount_estimate){ less(state->live.bytes, state->before.bytes),
					     less(state->live.blocks, state->before.blocks),
					     less(state->live.usable, state->before.usable) };
}

void tpa_estimates_site(struct tpa_estimates *estimates, size_t number, uint64_t peak_number, struct tpa_site *site,
			struct tpa_variance *variance)
{
	struct tpa_estimate_state *state = &estimates->sites[number];
	struct tpa_amount_estimate end = at_end(state);

	touch(state, peak_number);
	put(&state->allocated.blocks, &site->allocations, &variance->allocations);
	put(&state->allocated.bytes, &site->bytes, &variance->bytes);
	put(&state->frees, &site->frees, &variance->frees);
	put(&state->short_lived, &site->short_lived, &variance->short_lived);
	put(&state->peak.bytes, &site->peak_bytes, &variance->peak_bytes);
	put(&state->peak.blocks, &site->peak_blocks, &variance->peak_blocks);
	put(&state->peak.usable, &site->peak_usable, &variance->peak_usable);
	put(&end.bytes, &site->live_bytes, &variance->live_bytes);
	put(&end.blocks, &site->live_blocks, &variance->live_blocks);
	put(&end.usable, &site->live_usable, &variance->live_usable);
	site->temporary = 0; /* unknown: not all events of a thread were recorded */
	site->variance = variance;
}

void tpa_estimates_heap(const struct tpa_estimates *estimates, struct tpa_heap *heap)
{
	const struct tpa_estimate_state *state = &estimates->all;
	struct tpa_variance *variance = &heap->variance;
	struct tpa_amount_estimate end = at_end(state);

	put(&state->allocated.blocks, &heap->allocations, &variance->allocations);
	put(&state->allocated.bytes, &heap->bytes, &variance->bytes);
	put(&state->allocated.usable, &heap->usable, &variance->usable);
	put(&state->frees, &heap->frees, &variance->frees);
	put(&state->short_lived, &heap->short_lived, &variance->short_lived);
	put(&state->peak.bytes, &heap->peak_bytes, &variance->peak_bytes);
	put(&state->peak.blocks, &heap->peak_blocks, &variance->peak_blocks);
	put(&state->peak.usable, &heap->peak_usable, &variance->peak_usable);
	put(&end.bytes, &heap->end_bytes, &variance->live_bytes);
	put(&end.blocks, &heap->end_blocks, &variance->live_blocks);
	put(&end.usable, &heap->end_usable, &variance->live_usable);
	heap->temporary = 0;
}

#define SMALLEST 24 /* bytes: usable size of glibc's smallest chunk (malloc/malloc.c, MINSIZE) */

/*
 * The weight is the variance over the estimate: the mean of (1 - p) / p over the blocks that were not certain to be recorded,
 * as it is the sum of (1 - p) / p^2 over the sum of 1 / p. If it is below 1, most blocks are so large that they are likely to be
 * recorded. They say nothing about small blocks, so the smallest block is used instead.
 */
struct tpa_unseen tpa_estimates_unseen(const struct tpa_estimates *estimates)
{
	const struct tpa_estimate *blocks = &estimates->by_chance;
	double weight = blocks->value > 0 ? blocks->variance / blocks->value : 0;

	return (struct tpa_unseen){ estimates->widest,
				    weight >= 1 ? weight : 1 / probability(estimates->widest, SMALLEST) };
}

void tpa_estimates_archive(struct tpa_archive *archive, struct tpa_estimates *estimates)
{
	TPA_ARCHIVE(archive, estimates->widest);
	TPA_ARCHIVE(archive, estimates->by_chance);
	TPA_ARCHIVE(archive, estimates->all);
	tpa_archive_array(archive, &estimates->sites, &estimates->count, &estimates->room, sizeof(*estimates->sites));
}
