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
