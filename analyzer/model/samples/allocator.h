/* SPDX-License-Identifier: Apache-2.0 */
/* What the allocator said of itself while the program ran: jemalloc's statistics. */
#ifndef TPROF_MODEL_SAMPLES_ALLOCATOR_H
#define TPROF_MODEL_SAMPLES_ALLOCATOR_H

#include "trace/payload.h"

struct tp_archive;

struct tp_allocator_sample {
	uint64_t time_ns; /* since the run's start */
	struct tp_allocator numbers;
};

/* Over time: of many, every second, fourth, ... one. */
#define TP_ALLOCATOR_SAMPLES 512u
struct tp_allocator_series {
	struct tp_allocator_sample *list;
	size_t count;
	uint64_t said;		  /* how often it did */
	uint64_t mask;		  /* the numbers of those that are kept have none of these bits */
	struct tp_allocator most; /* of each number */
	struct tp_allocator last;
};

void tp_allocator_add(struct tp_allocator_series *series, uint64_t time_ns, const struct tp_allocator *numbers);
void tp_allocator_free(struct tp_allocator_series *series);

/* Saves, or loads into a series that is all zero. */
void tp_allocator_archive(struct tp_archive *archive, struct tp_allocator_series *series);

/* Did it say anything? */
static inline bool tp_allocator_told(const struct tp_allocator *allocator)
{
	return allocator->active != 0;
}

#endif
