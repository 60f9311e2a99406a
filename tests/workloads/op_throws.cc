// SPDX-License-Identifier: Apache-2.0
// Exceptions through hooked functions: thrown deep inside libthrower.so, caught in it.
#include <cstdio>
#include <cstdlib>

#include "thrower.h"

int main(int argc, char **argv)
{
	int times = argc > 1 ? std::atoi(argv[1]) : 10, sum = 0;

	for (int i = 0; i < times; i++)
		sum += thrower_top(i % 5);
	std::printf("op_throws: %d\n", sum);
	return 0;
}
