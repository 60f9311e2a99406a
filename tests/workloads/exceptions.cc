// SPDX-License-Identifier: Apache-2.0
// exceptions: allocations while exceptions fly, below templates, lambdas and virtual calls, each with the stack that
// libunwind sees there. A profiler that changes return addresses or swallows frames breaks this program.
#include "stacknote.h"
#include "truth.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>

#define NOINLINE __attribute__((noinline))

namespace
{

void *volatile sink;
int caught;

struct noisy_destructor {
	NOINLINE ~noisy_destructor()
	{
		sink = NOTED_MALLOC();
	}
};

struct base {
	virtual void go(int depth) = 0;
	virtual ~base() = default;
};

struct thrower : base {
	void go(int depth) override
	{
		noisy_destructor local;

		sink = NOTED_MALLOC();
		if (!depth)
			throw std::runtime_error("thrown");
		go(depth - 1);
		sink = nullptr;
	}
};

struct throwing_constructor {
	noisy_destructor member;

	NOINLINE throwing_constructor()
	{
		sink = NOTED_MALLOC();
		throw 42;
	}
};

NOINLINE void catch_and_rethrow(base &b)
{
	try {
		b.go(3);
	} catch (const std::exception &) {
		caught++;
		sink = NOTED_MALLOC();
		throw;
	}
}

NOINLINE void catch_outer(base &b)
{
	try {
		catch_and_rethrow(b);
	} catch (...) {
		caught++;
		sink = NOTED_MALLOC();
	}
	try {
		throwing_constructor never;
	} catch (int) {
		caught++;
		sink = NOTED_MALLOC();
	}
}

template <typename F> NOINLINE void call(F f)
{
	f();
	sink = nullptr;
}

template <typename F> NOINLINE void call_nested(F f)
{
	call([&f] {
		f();
		sink = nullptr;
	});
	sink = nullptr;
}

NOINLINE void in_sort()
{
	int numbers[40];
	bool done = false;

	for (int i = 0; i < 40; i++)
		numbers[i] = (i * 7) % 40;
	std::sort(numbers, numbers + 40, [&done](int a, int b) {
		if (!done)
			sink = NOTED_MALLOC();
		done = true;
		return a < b;
	});
}

} // namespace

int main()
{
	thrower t;

	for (int i = 0; i < 3; i++)
		catch_outer(t);
	call_nested([] { sink = NOTED_MALLOC(); });
	in_sort();
	std::function<void()> f = [] { sink = NOTED_MALLOC(); };
	f();
	std::thread thread(catch_outer, std::ref(t));
	thread.join();
	if (caught != 12)
		truth_die("an exception");
	stack_notes_write();
	TRUTH_SAY("exceptions: done\n");
	return 0;
}
