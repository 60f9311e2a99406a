/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same everywhere, from a seed of the caller's. */
#ifndef TPROF_TESTS_RANDOM_NUMBERS_H
#define TPROF_TESTS_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood 2014). In (0, 1). */
static inline double random_uniform(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller 1958. */
static inline double random_normal(uint64_t *seed)
{
	double radius = sqrt(-2 * log(random_uniform(seed)));

	return radius * cos(2 * M_PI * random_uniform(seed));
}

#endif
