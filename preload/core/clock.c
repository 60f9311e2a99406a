/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"

#include "core/sys.h"

#include <cpuid.h>
#include <time.h>

/* The first of these variables: they begin a cache line. */
enum tprof_clock tpc_clock_kind TPC_LOOKED_AT __attribute__((aligned(64))) = TPROF_CLOCK_MONOTONIC;
tpc_shared_u32 tpc_clock_shared TPC_LOOKED_AT;

/* CPUID 8000_0007h, EDX bit 8: the counter runs at one rate in all power states. */
static bool invariant_counter(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}

void tpc_clock_start(void)
{
	tpc_clock_kind = invariant_counter() ? TPROF_CLOCK_TSC : TPROF_CLOCK_MONOTONIC;
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t); /* the vDSO's: no lock, no allocation */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t tpc_clock_slow(void)
{
	return nanoseconds(CLOCK_MONOTONIC);
}

struct tprof_moment tpc_clock_moment(void)
{
	struct tprof_moment moment;

	moment.mono_ns = nanoseconds(CLOCK_MONOTONIC);
	moment.ticks = tpc_clock_before();
	moment.unix_ns = nanoseconds(CLOCK_REALTIME);
	return moment;
}

uint64_t tpc_clock_ticks(uint64_t ns)
{
	/* Counters run at 1 to 4 GHz; 2 is accurate enough for the interval between two memory samples. */
	return tpc_clock_kind == TPROF_CLOCK_TSC ? ns * 2 : ns;
}

uint64_t tpc_clock_thread_ns(void)
{
	struct timespec now = { 0 };

	tpc_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
