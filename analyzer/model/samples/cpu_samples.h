/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples, as reports need them. */
#ifndef TPROF_MODEL_SAMPLES_CPU_SAMPLES_H
#define TPROF_MODEL_SAMPLES_CPU_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A number of CPU samples. Each stands for `periods` of header.cpu_period_ns: one, or more if its signal came late.
 * Samples of several periods weigh more, but tell no more: all together are worth (sum of periods)^2 / (sum of squared
 * periods) independent samples (Kish 1965).
 */
struct tpa_cpu {
	uint64_t samples, periods;
	double squares; /* sum of the squared periods of the samples */
};

/* CPU samples of one stack, thread and op: the innermost op that was open; 0: none. */
struct tpa_cpu_site {
	uint32_t node, thread, op;
	struct tpa_cpu cpu;
};

void tpa_cpu_add(struct tpa_cpu *to, const struct tpa_cpu *from);

#endif
