/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics that the allocator (jemalloc) reported while the program ran. */
#ifndef TPROF_MODEL_SAMPLES_ALLOCATOR_H
#define TPROF_MODEL_SAMPLES_ALLOCATOR_H

#include "trace/payload.h"

struct tpa_archive;

struct tpa_allocator_sample {
	uint64_t time_ns; /* in reports since the run's start; before that, as tpa_allocator_add() got it */
	struct tpa_allocator numbers;
};

/* The statistics over time. If there are too many samples, only every second, fourth, ... one is kept. */
#define TPA_ALLOCATOR_SAMPLES 512u
struct tpa_allocator_series {
	struct tpa_allocator_sample *list;
	size_t count;
	uint64_t said;		   /* number of samples that were added */
	uint64_t mask;		   /* sample n is kept if n & mask is 0 */
	struct tpa_allocator most; /* maximum of each number */
	struct tpa_allocator last;
};

void tpa_allocator_add(struct tpa_allocator_series *series, uint64_t time_ns, const struct tpa_allocator *numbers);
void tpa_allocator_free(struct tpa_allocator_series *series);

/* Saves the series, or loads it into one that is all zero. */
void tpa_allocator_archive(struct tpa_archive *archive, struct tpa_allocator_series *series);

/* Did the allocator report anything? */
static inline bool tpa_allocator_told(const struct tpa_allocator *allocator)
{
	return allocator->active != 0;
}

#endif
