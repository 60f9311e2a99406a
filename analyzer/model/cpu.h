/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples, counted by stack and thread. */
#ifndef TPROF_MODEL_CPU_H
#define TPROF_MODEL_CPU_H

#include "model/run.h"

struct tp_cpu_counts {
	struct tp_cpu_site *list;
	size_t count, room;
	uint32_t *table; /* hash table: index + 1 of a site, by node and thread */
	unsigned bits;
};

bool tp_cpu_init(struct tp_cpu_counts *counts);
void tp_cpu_free(struct tp_cpu_counts *counts);

/* `node` without aliases. False: no memory. */
bool tp_cpu_count(struct tp_cpu_counts *counts, uint32_t node, uint32_t thread, uint64_t periods);

/* Hands the list over, by node and thread. */
struct tp_cpu_site *tp_cpu_result(struct tp_cpu_counts *counts, size_t *count);

#endif
