/* SPDX-License-Identifier: Apache-2.0 */
/* The heap model as one would write it without a thought for speed: all is added up anew at each event. */
#ifndef TPROF_TESTS_NAIVE_H
#define TPROF_TESTS_NAIVE_H

#include "random_program.h"

struct naive_site {
	uint64_t allocations, frees, bytes, peak_bytes, peak_blocks, peak_usable, live_bytes, live_blocks, live_usable;
	uint64_t temporary, short_lived, largest;
	uint64_t map_bytes, map_calls, map_live, map_peak;
};

struct naive {
	struct naive_site sites[SITES];
	uint64_t peak_bytes, peak_time, mapped_peak, largest_point;
};

/* Index of the allocation that a free ends. */
static inline size_t owner_of(const struct program *program, size_t free_index)
{
	size_t i = free_index;

	while (i-- > 0)
		if (program->ops[i].kind == OP_ALLOC && program->ops[i].address == program->ops[free_index].address)
			return i;
	abort();
}

static inline bool is_temporary(const struct program *program, size_t alloc, size_t free_index)
{
	size_t i;

	if (program->ops[alloc].thread != program->ops[free_index].thread)
		return false;
	for (i = alloc + 1; i < free_index; i++)
		if (program->ops[i].kind <= OP_FREE && program->ops[i].thread == program->ops[alloc].thread)
			return false;
	return true;
}

/* Everything that is live right after event `at`, added up from nothing. */
static inline uint64_t naive_live(const struct program *program, size_t at, struct naive_site *sites, uint64_t from)
{
	bool *ended = calloc(at + 1, sizeof(*ended));
	uint64_t total = 0;
	size_t i;

	assert_non_null(ended);
	for (i = 0; i <= at; i++)
		if (program->ops[i].kind == OP_FREE)
			ended[owner_of(program, i)] = true;
	for (i = 0; i <= at; i++) {
		const struct op *op = &program->ops[i];

		if (op->kind != OP_ALLOC || ended[i] || op->time < from)
			continue;
		total += op->size;
		if (sites) {
			sites[op->site].live_bytes += op->size;
			sites[op->site].live_blocks++;
			sites[op->site].live_usable += op->usable;
		}
	}
	free(ended);
	return total;
}

static inline void naive_heap(const struct program *program, struct naive *naive, uint64_t from, uint64_t to)
{
	uint64_t live = 0;
	size_t i, peak = SIZE_MAX, last = SIZE_MAX, k;
	struct naive_site at_peak[SITES] = { 0 };

	for (i = 0; i < program->count && program->ops[i].time <= to; i++) {
		const struct op *op = &program->ops[i];

		last = i;
		if (op->kind == OP_ALLOC) {
			struct naive_site *site = &naive->sites[op->site];

			live += op->size;
			if (op->time < from)
				continue;
			site->allocations++;
			site->bytes += op->size;
			site->largest = op->size > site->largest ? op->size : site->largest;
		} else if (op->kind == OP_FREE) {
			size_t alloc = owner_of(program, i);
			struct naive_site *site = &naive->sites[program->ops[alloc].site];

			live -= program->ops[alloc].size;
			if (op->time < from)
				continue;
			site->frees++;
			site->temporary += is_temporary(program, alloc, i);
			site->short_lived += op->time - program->ops[alloc].time <= TPA_SHORT_LIVED_NS;
		}
		if (op->time >= from && live > naive->peak_bytes) {
			naive->peak_bytes = live;
			naive->peak_time = op->time;
			peak = i;
		}
	}
	if (last != SIZE_MAX)
		naive_live(program, last, naive->sites, from);
	if (peak != SIZE_MAX)
		assert_int_equal(naive_live(program, peak, at_peak, 0), naive->peak_bytes);
	for (k = 0; k < SITES; k++) {
		naive->sites[k].peak_bytes = at_peak[k].live_bytes;
		naive->sites[k].peak_blocks = at_peak[k].live_blocks;
		naive->sites[k].peak_usable = at_peak[k].live_usable;
	}
}

/* Page by page. */
static inline void naive_maps(const struct program *program, struct naive *naive)
{
	int owner[PAGES];
	uint64_t total;
	size_t i, k, page;

	memset(owner, -1, sizeof(owner));
	for (i = 0; i < program->count; i++) {
		const struct op *op = &program->ops[i];

		if (op->kind != OP_MAP && op->kind != OP_UNMAP)
			continue;
		for (page = op->address; page < op->address + op->size; page++)
			owner[page] = op->kind == OP_MAP ? (int)op->site : -1;
		if (op->kind == OP_MAP) {
			naive->sites[op->site].map_calls++;
			naive->sites[op->site].map_bytes += op->size * 4096;
		}
		for (k = 0; k < SITES; k++)
			naive->sites[k].map_live = 0;
		for (page = 0, total = 0; page < PAGES; page++) {
			if (owner[page] >= 0) {
				naive->sites[owner[page]].map_live += 4096;
				total += 4096;
			}
		}
		if (total > naive->mapped_peak) {
			naive->mapped_peak = total;
			for (k = 0; k < SITES; k++)
				naive->sites[k].map_peak = naive->sites[k].map_live;
		}
	}
}

#endif
