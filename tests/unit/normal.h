/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same in every run. */
#ifndef TPROF_TESTS_NORMAL_H
#define TPROF_TESTS_NORMAL_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

/* Marsaglia's xorshift; then about normal, mean 0 and deviation 1: the sum of twelve uniforms (-6). */
static inline double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		random_state ^= random_state << 13;
		random_state ^= random_state >> 7;
		random_state ^= random_state << 17;
		sum += (double)(random_state >> 11) / 0x1p53;
	}
	return sum;
}

#endif
