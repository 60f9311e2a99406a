// SPDX-License-Identifier: Apache-2.0
// tprof.h from C++: scopes end with their blocks, by an exception too. `annotate N`
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <tprof.h>

static void *volatile sink;

static void step(int i)
{
	tprof::op scope("step", "pass", "3x4,4x5", 120, 64);
	void *block = malloc(1000);

	sink = block;
	free(block);
	tprof::op inner("inner");
	if (i % 2)
		throw std::runtime_error("odd");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, caught = 0;
	tprof::recording recording;

	for (int i = 0; i < n; i++) {
		try {
			step(i);
		} catch (const std::runtime_error &) {
			caught++;
		}
		tprof_step(2);
	}
	printf("%d caught\n", caught);
	return 0;
}
