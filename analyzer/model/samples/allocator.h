/* SPDX-License-Identifier: Apache-2.0 */
/* What the allocator said of itself while the program ran: jemalloc's statistics. */
#ifndef TPROF_MODEL_SAMPLES_ALLOCATOR_H
#define TPROF_MODEL_SAMPLES_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_archive;

/* Bytes, in the words of jemalloc(3); all 0: nothing was said yet. */
struct tp_allocator {
	uint64_t allocated; /* in blocks, at their sizes by its classes, those that threads' caches hold with them */
	uint64_t active;    /* in pages that blocks lie in */
	uint64_t metadata;
	uint64_t resident; /* active, metadata, and pages without blocks that it has not given back */
	uint64_t mapped, retained;
};

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

/* What stands behind an ALLOCATOR record's dtime. False: it is not whole, or of an allocator that is not known. */
bool tp_allocator_read(struct tp_allocator *allocator, const char *bytes, size_t length);

/* False: no memory. */
bool tp_allocator_add(struct tp_allocator_series *series, uint64_t time_ns, const struct tp_allocator *numbers);
void tp_allocator_free(struct tp_allocator_series *series);

/* Saves, or loads into a series that is all zero. */
void tp_allocator_archive(struct tp_archive *archive, struct tp_allocator_series *series);

/* Did it say anything? */
static inline bool tp_allocator_told(const struct tp_allocator *allocator)
{
	return allocator->active != 0;
}

#endif
