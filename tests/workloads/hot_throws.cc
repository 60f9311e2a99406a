// SPDX-License-Identifier: Apache-2.0
// hot_throws CALLS: tiny_call, of which each 20,000th is left by an exception.
#include <cstdio>
#include <cstdlib>

extern "C" {
#include "tinyblas.h"
}

static unsigned long made;

static void throw_rarely()
{
	if (++made % 20000 == 0)
		throw 1;
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1, caught = 0;

	while (made < calls) {
		try {
			tiny_call(throw_rarely);
		} catch (int) {
			caught++;
		}
	}
	std::printf("hot_throws: %lu\n", caught);
	return 0;
}
