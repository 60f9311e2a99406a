// SPDX-License-Identifier: Apache-2.0
// left_scopes TIMES: a hooked function throws, which is caught in annotated ops, in a part of a parallel region, and in a
// function (built with -finstrument-functions, each function is an op too). No other hooked call comes in between.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <tprof.h>

#include "thrower.h"

static int caught()
{
	try {
		return thrower_deep(0);
	} catch (const std::exception &) {
		return 1;
	}
}

static int in_op()
{
	tprof::op around("around");
	int sum = caught();
	tprof::op behind("behind");

	tprof_op_detail("4x4", 64, 0);
	return sum;
}

/* Where more is on the stack than there was in the call, as in an interpreter. */
static __attribute__((noinline, no_instrument_function)) void end_from_afar()
{
	volatile char room[512];

	room[0] = 0;
	tprof_op_end();
	if (room[0])
		std::puts("written over");
}

static int in_far_op()
{
	int sum;

	tprof_op_begin("far", nullptr);
	try {
		sum = thrower_deep(0);
	} catch (const std::exception &) {
		sum = 1;
	}
	end_from_afar();
	return sum;
}

static int in_region()
{
	int sum = 0;

#pragma omp parallel num_threads(1)
	sum += caught();
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? std::atoi(argv[1]) : 10, sum = 0;

	for (int i = 0; i < times; i++) {
		sum += in_op();
		sum += in_far_op();
		sum += in_region();
		tprof::op next("next", nullptr, "2x2", 8);
	}
	std::printf("left_scopes: %d\n", sum);
	return 0;
}
