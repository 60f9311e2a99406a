/* SPDX-License-Identifier: Apache-2.0 */
/* counted: built with -pg, so each function begins by a call of mcount(), with its arguments still in registers. */
#include <stdio.h>

static __attribute__((noinline)) double work(double a, long b, long c, const char *d)
{
	return a * (double)b + (double)c + (d != NULL);
}

int main(int argc, char **argv)
{
	double sum = 0;

	for (long i = 0; i < 100; i++)
		sum += work((double)i, i, argc, argv[0]);
	printf("counted %g\n", sum);
	return 0;
}
