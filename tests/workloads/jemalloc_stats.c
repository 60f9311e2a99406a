/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jemalloc_stats STEPS HOLES: what jemalloc says of itself at each step's end and at the program's, by its own mallctl(). Each
 * step allocates blocks of one size, another each time, and keeps one of HOLES (1: all) until the end; what was kept by the
 * third step before goes. Prints a line a step, and one for the end: step, allocated, active, metadata, resident, mapped,
 * retained.
 */
#include <jemalloc/jemalloc.h>
#include <stdint.h>
#include <string.h>
#include <tprof.h>
#include <unistd.h>

#include "truth.h"

enum { BLOCKS = 4096, STEPS_MAX = 400, NUMBERS = 6, LAST = 3 };

static void *blocks[BLOCKS], *kept[STEPS_MAX][BLOCKS];
static size_t told[STEPS_MAX + 1][NUMBERS];

static void ask(size_t *numbers)
{
	static const char *const names[NUMBERS] = { "stats.allocated", "stats.active", "stats.metadata",
						    "stats.resident",  "stats.mapped", "stats.retained" };
	uint64_t epoch = 1;
	size_t size = sizeof(epoch);

	if (mallctl("epoch", &epoch, &size, &epoch, sizeof(epoch)) != 0)
		truth_die("epoch");
	size = sizeof(*numbers);
	for (int i = 0; i < NUMBERS; i++)
		if (mallctl(names[i], &numbers[i], &size, NULL, 0) != 0)
			truth_die(names[i]);
}

static void step(size_t number, size_t holes)
{
	size_t size = 64 + 160 * (number % 13);

	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(size);
		if (!blocks[i])
			truth_die("malloc");
		memset(blocks[i], 1, size);
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		if (i % holes == 0)
			kept[number][i] = blocks[i];
		else
			free(blocks[i]);
	}
	for (size_t i = 0; number >= LAST && i < BLOCKS; i++)
		free(i % (2 * holes) ? kept[number - LAST][i] : NULL);
}

int main(int argc, char **argv)
{
	size_t steps = argc == 3 ? strtoul(argv[1], NULL, 10) : 0, holes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (!steps || steps > STEPS_MAX || !holes)
		truth_die("usage: jemalloc_stats STEPS HOLES");
	ask(told[0]); /* what it takes for itself the first time */
	for (size_t i = 0; i < steps; i++) {
		step(i, holes);
		usleep(8000); /* so that it is a step's end by which tprof asks again, on a busy machine too */
		ask(told[i]);
		tprof_step(0);
	}
	ask(told[steps]);
	for (size_t i = 0; i <= steps; i++) {
		char line[400];
		int length = snprintf(line, sizeof(line), "%zu %zu %zu %zu %zu %zu %zu\n", i, told[i][0], told[i][1],
				      told[i][2], told[i][3], told[i][4], told[i][5]);

		if (write(1, line, (size_t)length) != length)
			truth_die("write");
	}
	return 0;
}
