/* SPDX-License-Identifier: Apache-2.0 */
/* What the allocator said of itself while the program ran: jemalloc's statistics. */
#ifndef TPROF_MODEL_SAMPLES_ALLOCATOR_H
#define TPROF_MODEL_SAMPLES_ALLOCATOR_H

#include "trace/payload.h"

struct tpa_archive;

struct tpa_allocator_sample {
	uint64_t time_ns; /* in the report since the run's start; before in the unit of who adds it */
	struct tpa_allocator numbers;
};

/* Over time: of many, every second, fourth, ... one. */
#define TPA_ALLOCATOR_SAMPLES 512u
struct tpa_allocator_series {
	struct tpa_allocator_sample *list;
	size_t count;
	uint64_t said;		   /* how often it did */
	uint64_t mask;		   /* the numbers of those that are kept have none of these bits */
	struct tpa_allocator most; /* of each number */
	struct tpa_allocator last;
};

void tpa_allocator_add(struct tpa_allocator_series *series, uint64_t time_ns, const struct tpa_allocator *numbers);
void tpa_allocator_free(struct tpa_allocator_series *series);

/* Saves, or loads into a series that is all zero. */
void tpa_allocator_archive(struct tpa_archive *archive, struct tpa_allocator_series *series);

/* Did it say anything? */
static inline bool tpa_allocator_told(const struct tpa_allocator *allocator)
{
	return allocator->active != 0;
}

#endif
