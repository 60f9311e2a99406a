// SPDX-License-Identifier: Apache-2.0
// op_throws TIMES [here]: exceptions through hooked functions: thrown deep inside libthrower.so, caught in it, or here:
// each call then has its frame where the one before it had it, which did not return.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "thrower.h"

static int caught(int n)
{
	try {
		return thrower_deep(n);
	} catch (const std::exception &) {
		return 1;
	}
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? std::atoi(argv[1]) : 10, sum = 0;

	for (int i = 0; i < times; i++)
		sum += argc > 2 ? caught(0) : thrower_top(i % 5);
	if (argc > 2)
		sum += thrower_top(0); // ends what is open
	std::printf("op_throws: %d\n", sum);
	return 0;
}
