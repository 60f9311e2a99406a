/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of performance counters, and of what the kernel counts of a process (USAGE records: totals since its start). */
#ifndef TPROF_MODEL_SAMPLES_COUNTERS_H
#define TPROF_MODEL_SAMPLES_COUNTERS_H

#include "trace/payload.h"

void tp_counters_add(struct tp_counters *to, const struct tp_counters *from);
void tp_usage_add(struct tp_usage *to, const struct tp_usage *from);

/* The increase since `before`, modulo 2^64, field by field. */
struct tp_usage tp_usage_less(const struct tp_usage *usage, const struct tp_usage *before);

#endif
