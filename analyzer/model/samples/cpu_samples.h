/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of the CPU samples. */
#ifndef TPROF_MODEL_SAMPLES_CPU_SAMPLES_H
#define TPROF_MODEL_SAMPLES_CPU_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CPU samples. Each stands for `periods` of header.cpu_period_ns: one, or more if its signal came late. Samples of several
 * periods weigh more and tell no more: as many independent ones as (sum of periods)^2 / (sum of their squares) would do
 * (Kish 1965).
 */
struct tpa_cpu {
	uint64_t samples, periods;
	double squares; /* sum of the samples' periods squared */
};

/* CPU samples of one stack and thread, and of one op: the innermost that was open; 0: none. */
struct tpa_cpu_site {
	uint32_t node, thread, op;
	struct tpa_cpu cpu;
};

void tpa_cpu_add(struct tpa_cpu *to, const struct tpa_cpu *from);

#endif
