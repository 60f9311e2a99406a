/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from pairs of numbers (or of pointers) to a number. Zeros are an empty one. */
#ifndef TPROF_BASE_PAIRS_H
#define TPROF_BASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_pairs {
	struct tpa_pair_slot *slots;
	size_t count, capacity;
};

/* Where the number of (a, b) is kept, 0 for a pair that is new; *found: it is not. Valid until the next call. */
uint32_t *tpa_pairs_at(struct tpa_pairs *pairs, uint64_t a, uint64_t b, bool *found);

/* 0: the pair has none. */
uint32_t tpa_pairs_find(const struct tpa_pairs *pairs, uint64_t a, uint64_t b);

/* In place of the number that it had. */
void tpa_pairs_set(struct tpa_pairs *pairs, uint64_t a, uint64_t b, uint32_t number);

/* Empty again, and usable. */
void tpa_pairs_free(struct tpa_pairs *pairs);

#endif
