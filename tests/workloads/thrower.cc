// SPDX-License-Identifier: Apache-2.0
// libthrower.so: exceptions through its own functions, which call each other through the PLT.
#include "thrower.h"

#include <stdexcept>
#include <string>

int thrower_deep(int n)
{
	if (n == 0)
		throw std::runtime_error(std::string(100, 'x'));
	return thrower_deep(n - 1) + 1;
}

int thrower_top(int n)
{
	try {
		return thrower_deep(n);
	} catch (const std::exception &e) {
		return static_cast<int>(std::string(e.what()).size());
	}
}

/* Volatile: or the call would be a jump. */
static volatile int called;

void thrower_a(thrower_back *back, int which, int depth)
{
	back(which, depth);
	called = 1;
}

void thrower_b(thrower_back *back, int which, int depth)
{
	volatile unsigned char room[300];

	room[0] = 0;
	back(which, depth);
	called = room[0];
}

void thrower_c(thrower_back *back, int which, int depth)
{
	called = 2;
	thrower_a(back, which, depth);
	called = 3;
}
