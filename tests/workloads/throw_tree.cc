// SPDX-License-Identifier: Apache-2.0
// throw_tree SEED CALLS: hooked functions that call back, at random within each other, as do exceptions, which are caught at random
// further out; whatever comes next is at any depth of the stack. Prints what was within what: for each path of functions
// "PATH CALLS THROWN BLOCKS", with the calls that an exception left and the blocks of 1 MiB that were allocated there.
#include <alloca.h>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "thrower.h"

#define DEPTH_MAX 12
#define PATHS 65536 /* a power of two */

namespace
{
struct path {
	uint64_t key; // digits of base 4, the outermost first; 0: the program itself, or an unused place
	unsigned calls, thrown, blocks;
} paths[PATHS];

uint64_t seed;
int left;
uint64_t current;

unsigned draw(unsigned below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return static_cast<unsigned>(seed >> 33) % below;
}

struct path &at(uint64_t key)
{
	uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 48;

	while (paths[i].key && paths[i].key != key)
		i = (i + 1) % PATHS;
	paths[i].key = key;
	return paths[i];
}

void allocate()
{
	free(malloc(1 << 20));
	at(current).blocks++;
}

void go_on(int depth);

/* What a hooked function calls: within its call. */
struct within {
	uint64_t outer = current;
	bool thrown = true;

	explicit within(int which)
	{
		current = current * 4 + static_cast<unsigned>(which) + 1;
		at(current).calls++;
	}
	~within()
	{
		at(current).thrown += thrown;
		current = outer;
	}
};

void called(int which, int depth)
{
	within call(which);

	go_on(depth + 1);
	if (draw(6) == 0)
		throw depth;
	call.thrown = false;
}

void call_one(int depth)
{
	int which = static_cast<int>(draw(3));

	left--;
	if (which == 0)
		thrower_a(called, which, depth);
	else if (which == 1)
		thrower_b(called, which, depth);
	else
		thrower_c(called, which, depth);
}

/* More or less of the stack below. */
__attribute__((noinline)) void call_from_afar(int depth)
{
	auto *room = static_cast<volatile char *>(alloca(16 + draw(4) * 400));

	room[0] = 0;
	call_one(depth);
}

void go_on(int depth)
{
	if (draw(4) == 0)
		allocate();
	while (depth < DEPTH_MAX && left > 0 && draw(5) < 2) {
		if (draw(2) == 0) {
			call_from_afar(depth);
			continue;
		}
		try {
			call_one(depth);
		} catch (int) {
			if (draw(2) == 0)
				allocate();
		}
	}
}
} // namespace

int main(int argc, char **argv)
{
	seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
	left = argc > 2 ? std::atoi(argv[2]) : 1000;
	while (left > 0) {
		try {
			go_on(0);
		} catch (int) {
			allocate();
		}
	}
	for (auto &path : paths) {
		if (path.key || path.calls)
			std::printf("%" PRIu64 " %u %u %u\n", path.key, path.calls, path.thrown, path.blocks);
	}
	return 0;
}
