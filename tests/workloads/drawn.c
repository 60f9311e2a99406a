/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawn SEED STEPS: works for times that are drawn from known distributions, and says what it drew and what its own clock
 * measured. A step is a call of "independent", each normal, and one of "alike", each like the one before (AR(1), 0.8).
 * Both have a mean of MEAN_NS and a deviation of DEVIATION_NS.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tprof.h>

#include "random_numbers.h"

#define MEAN_NS 8000.0
#define DEVIATION_NS 2400.0
#define LEAST_NS 200.0 /* what a clock can be asked for: three deviations from the mean */
#define KEPT 0.8
#define BEFORE 50 /* draws that are thrown away: the process is then what it will be ever after */

struct timed {
	double drawn, inside, around; /* by our own clock: within the op, and with what begins and ends it */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double draw(double kept, double *state, uint64_t *seed)
{
	double ns;

	*state = kept * *state + sqrt(1 - kept * kept) * random_normal(seed);
	ns = MEAN_NS + DEVIATION_NS * *state;
	return ns > LEAST_NS ? ns : LEAST_NS;
}

static struct timed work(const char *name, double ns)
{
	struct timed timed = { .drawn = ns };
	double before = now(), begin, end;

	tprof_op_begin(name, NULL);
	begin = now();
	while ((end = now()) < begin + ns)
		;
	tprof_op_end();
	timed.inside = end - begin;
	timed.around = now() - before;
	return timed;
}

static void print(const char *name, const struct timed *list, int count)
{
	printf("\"%s\": {\"drawn\": [", name);
	for (int i = 0; i < count; i++)
		printf("%s%.0f", i ? ", " : "", list[i].drawn);
	printf("], \"inside\": [");
	for (int i = 0; i < count; i++)
		printf("%s%.0f", i ? ", " : "", list[i].inside);
	printf("], \"around\": [");
	for (int i = 0; i < count; i++)
		printf("%s%.0f", i ? ", " : "", list[i].around);
	printf("]}, ");
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int steps = argc > 2 ? atoi(argv[2]) : 400;
	struct timed *independent = calloc((size_t)steps, sizeof(*independent)),
		     *alike = calloc((size_t)steps, sizeof(*alike));
	double *ends = calloc((size_t)steps + 1, sizeof(*ends)), state = 0, none = 0;

	if (steps < 1 || !independent || !alike || !ends)
		return 1;
	for (int i = 0; i < BEFORE; i++)
		draw(KEPT, &state, &seed);
	ends[0] = now();
	for (int i = 0; i < steps; i++) {
		independent[i] = work("independent", draw(0, &none, &seed));
		alike[i] = work("alike", draw(KEPT, &state, &seed));
		ends[i + 1] = now();
		tprof_step(0);
	}
	printf("{\"mean_ns\": %.0f, ", MEAN_NS);
	print("independent", independent, steps);
	print("alike", alike, steps);
	printf("\"steps\": [");
	for (int i = 0; i < steps; i++)
		printf("%s%.0f", i ? ", " : "", ends[i + 1] - ends[i]);
	puts("]}");
	free(independent);
	free(alike);
	free(ends);
	return 0;
}
