/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from pairs of words to numbers. */
#ifndef TPROF_REPORT_ROWS_PAIR_NUMBERS_H
#define TPROF_REPORT_ROWS_PAIR_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tp_map {
	struct tp_map_slot *slots;
	size_t count, capacity;
};

/*
 * Where the number of (a, b) is kept; *found says whether there was one, else it is 0 for now. Valid until the next
 * call. NULL: memory is out.
 */
uint32_t *tp_map_at(struct tp_map *map, uint64_t a, uint64_t b, bool *found);
void tp_map_free(struct tp_map *map);

#endif
