/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_BASE_NOW_H
#define TPROF_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* What the clock shows, in nanoseconds. */
static inline uint64_t tpa_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
