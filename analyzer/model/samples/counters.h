/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of performance counters, and of the kernel's counts for a process (USAGE records: totals since its start). */
#ifndef TPROF_MODEL_SAMPLES_COUNTERS_H
#define TPROF_MODEL_SAMPLES_COUNTERS_H

#include "trace/payload.h"

void tpa_counters_add(struct tpa_counters *to, const struct tpa_counters *from);
void tpa_usage_add(struct tpa_usage *to, const struct tpa_usage *from);

/* The increase since `before`, modulo 2^64, field by field. */
struct tpa_usage tpa_usage_less(const struct tpa_usage *usage, const struct tpa_usage *before);

#endif
