/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples, counted by stack, thread and op. */
#ifndef TPROF_MODEL_SAMPLES_CPU_H
#define TPROF_MODEL_SAMPLES_CPU_H

#include "base/pairs.h"
#include "model/samples/cpu_samples.h"

struct tp_archive;

struct tp_cpu_counts {
	struct tp_cpu_site *list;
	size_t count, room;
	struct tp_pairs index; /* (thread << 32 | op, node) to the place in `list` */
};

void tp_cpu_init(struct tp_cpu_counts *counts);
void tp_cpu_free(struct tp_cpu_counts *counts);

/* `where`: node (without aliases), thread and op. */
void tp_cpu_count(struct tp_cpu_counts *counts, const struct tp_cpu_site *where, uint64_t periods);

/* Saves, or loads into empty counts. */
void tp_cpu_archive(struct tp_archive *archive, struct tp_cpu_counts *counts);

/* Hands the list over, by node, thread and op. */
struct tp_cpu_site *tp_cpu_result(struct tp_cpu_counts *counts, size_t *count);

#endif
