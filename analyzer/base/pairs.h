/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table that maps pairs of numbers (or pointers) to a number. A zeroed table is empty. Not thread-safe. */
#ifndef TPROF_BASE_PAIRS_H
#define TPROF_BASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tpa_pairs {
	void *slots;
	size_t count, capacity;
	bool wide; /* the form of the slots, which pairs.c describes */
};

/*
 * Returns the address of the number of (a, b), valid until the next call. Adds the pair with number 0 if it is new.
 * *found: the pair existed.
 */
uint32_t *tpa_pairs_at(struct tpa_pairs *pairs, uint64_t a, uint64_t b, bool *found);

/* Returns the number of (a, b); 0: the table does not have the pair. */
uint32_t tpa_pairs_find(const struct tpa_pairs *pairs, uint64_t a, uint64_t b);

/* Sets the number of (a, b); adds the pair if it is new. */
void tpa_pairs_set(struct tpa_pairs *pairs, uint64_t a, uint64_t b, uint32_t number);

/* Lays a large table aside: base/aside.h. */
void tpa_pairs_lay_aside(struct tpa_pairs *pairs);

/* Frees the table's memory and leaves an empty table, which can be used again. */
void tpa_pairs_free(struct tpa_pairs *pairs);

#endif
