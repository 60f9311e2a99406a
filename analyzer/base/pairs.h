/* SPDX-License-Identifier: Apache-2.0 */
/* A table from pairs of numbers to a number that is not 0. Zeros are an empty one. */
#ifndef TPROF_BASE_PAIRS_H
#define TPROF_BASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_pairs {
	uint64_t *keys;	   /* a << 32 | b */
	uint32_t *numbers; /* 0: empty */
	unsigned bits;
	size_t count;
};

/* 0: the pair has none. */
uint32_t tp_pairs_find(const struct tp_pairs *pairs, uint32_t a, uint32_t b);

/* In place of the number that it had. False: no memory. */
bool tp_pairs_set(struct tp_pairs *pairs, uint32_t a, uint32_t b, uint32_t number);
void tp_pairs_free(struct tp_pairs *pairs);

#endif
