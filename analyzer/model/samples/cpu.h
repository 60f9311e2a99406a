/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples, counted by stack, thread and op. */
#ifndef TPROF_MODEL_SAMPLES_CPU_H
#define TPROF_MODEL_SAMPLES_CPU_H

#include "base/pairs.h"
#include "model/samples/cpu_samples.h"

struct tpa_archive;

struct tpa_cpu_counts {
	struct tpa_cpu_site *list;
	size_t count, room;
	struct tpa_pairs index; /* maps (thread << 32 | op, node) to the index in `list` */
};

void tpa_cpu_init(struct tpa_cpu_counts *counts);
void tpa_cpu_free(struct tpa_cpu_counts *counts);

/* Counts one sample that stands for `periods` periods. `where`: node (without aliases), thread and op. */
void tpa_cpu_count(struct tpa_cpu_counts *counts, const struct tpa_cpu_site *where, uint64_t periods);

/* Saves the counts, or loads them into empty ones. */
void tpa_cpu_archive(struct tpa_archive *archive, struct tpa_cpu_counts *counts);

/* Returns the list, sorted by node, thread and op; the caller frees it. Leaves `counts` without it. */
struct tpa_cpu_site *tpa_cpu_result(struct tpa_cpu_counts *counts, size_t *count);

#endif
