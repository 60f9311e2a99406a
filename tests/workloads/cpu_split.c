/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_split MS: that much CPU time, split between three static functions that do identical work, 70 to 20 to 10 by the
 * number of calls, in an order that looks random. Each call measures its own CPU time: the truth, in nanoseconds.
 */
#include "truth.h"

#include <time.h>

/* Rounds of the loop: tenths of a millisecond, of which the clock takes little on the fastest processor, too. */
enum { CALL = 200000 };

static volatile unsigned int sum;
static uint64_t heavy_ns, medium_ns, light_ns, down_ns;

static uint64_t cpu_now(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
		truth_die("clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The work is in each function itself, so that self and total differ from caller to caller only. */
#define WORK()                                                                                                         \
	for (unsigned int i = 0; i < CALL; i++)                                                                        \
	sum += i

__attribute__((noinline)) static void heavy(void)
{
	WORK();
}

__attribute__((noinline)) static void medium(void)
{
	WORK();
}

__attribute__((noinline)) static void light(void)
{
	WORK();
}

/* Recursion: its total is no more than the time spent in it. */
__attribute__((noinline, noclone)) static void down(int levels)
{
	if (levels > 0)
		down(levels - 1);
	else
		WORK();
	sum++; /* no tail call */
}

__attribute__((noinline)) static void measured(uint64_t draw)
{
	uint64_t begin = cpu_now();

	if (draw < 70) {
		heavy();
		heavy_ns += cpu_now() - begin;
	} else if (draw < 90) {
		medium();
		medium_ns += cpu_now() - begin;
	} else {
		light();
		light_ns += cpu_now() - begin;
	}
	sum++;
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000000u, seed = 1, begin;
	char text[200];
	int length;

	while (cpu_now() < wanted) {
		measured(truth_random(&seed) % 100);
		if (truth_random(&seed) % 8 == 0) {
			begin = cpu_now();
			down(10);
			down_ns += cpu_now() - begin;
		}
	}
	length = snprintf(text, sizeof(text),
			  "{\"heavy\": %" PRIu64 ", \"medium\": %" PRIu64 ", \"light\": %" PRIu64 ", \"down\": %" PRIu64
			  "}\n",
			  heavy_ns, medium_ns, light_ns, down_ns);
	truth_write_text("", text, (size_t)length);
	return 0;
}
