// SPDX-License-Identifier: Apache-2.0
/*
 * code_cases TIMES: functions that only this file calls, and that are left in every way: by return, exceptions, longjmp, tail
 * calls; recursive ones, templates, calls by threads, functions that begin with a call. Prints the sum of their results, then
 * "FUNCTION CALLS LEFT": LEFT calls did not return.
 */
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#define APART __attribute__((noinline, noclone))

struct counted {
	const char *name;
	std::atomic<long> calls, left;
};

static counted c_plain{ "code::plain", {}, {} }, c_throws{ "code::throws", {}, {} }, c_cleans{ "code::cleans", {}, {} },
	c_calls_first{ "code::calls_first", {}, {} }, c_recurse{ "code::recurse", {}, {} },
	c_tail{ "code::tail", {}, {} }, c_jumps{ "code::jumps", {}, {} }, c_fill{ "code::box::fill", {}, {} },
	c_many{ "code::many", {}, {} }, c_deep{ "code::deep", {}, {} };

static volatile long sink;
static int destroyed;
static std::jmp_buf back;

struct guard {
	~guard()
	{
		destroyed++;
	}
};

namespace code
{

static APART int plain(int n)
{
	c_plain.calls++;
	return n * 3 + 1;
}

static APART int throws(int n)
{
	c_throws.calls++;
	if (n % 3 == 0) {
		c_throws.left++;
		throw std::runtime_error("three");
	}
	return n;
}

// Begins with a call, behind which there is nothing to unwind but the stack.
static APART int calls_first(int n)
{
	return throws(n) + 1;
}

// A landing pad: the destructor runs when throws() throws.
static APART int cleans(int n)
{
	guard here;

	c_cleans.calls++;
	if (n % 3 == 0)
		c_cleans.left++;
	return throws(n) + 2;
}

static APART long recurse(int n)
{
	c_recurse.calls++;
	return n <= 0 ? 1 : recurse(n - 1) + n + sink;
}

static APART long tail(int n)
{
	c_tail.calls++;
	return recurse(n % 4);
}

static APART void jumps(int n)
{
	c_jumps.calls++;
	if (n % 2) {
		c_jumps.left++;
		std::longjmp(back, n + 1);
	}
}

template <typename T> struct box {
	T last;
	APART T fill(T value)
	{
		c_fill.calls++;
		last = last + value;
		return last;
	}
};

// More arguments than there are registers, and a large result.
struct large {
	double value[9];
};

static APART large many(int a, int b, int c, int d, int e, int f, double x, int g, long h, const large &in)
{
	large out = in;

	c_many.calls++;
	out.value[g % 9] += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + x + double(h);
	return out;
}

static APART int deep(int n)
{
	c_deep.calls++;
	try {
		return n > 0 ? deep(n - 1) + 1 : throws(3);
	} catch (const std::exception &) {
		if (n < 2) {
			c_deep.left++;
			throw;
		}
		return 7;
	}
}

} // namespace code

static long attempt(int (*function)(int), int n)
{
	try {
		return function(n);
	} catch (const std::exception &) {
		return -1;
	}
}

static long once(int i)
{
	static code::box<int> ints{};
	static code::box<double> doubles{};
	static code::large large{};
	volatile long sum = 0;

	c_calls_first.calls++; // not in it, where it would come first
	if (i % 3 == 0)
		c_calls_first.left++;
	sum = sum + code::plain(i) + attempt(code::throws, i) + attempt(code::cleans, i) +
	      attempt(code::calls_first, i);
	sum = sum + code::recurse(i % 5) + code::tail(i) + ints.fill(i) + long(doubles.fill(i / 2.0)) +
	      attempt(code::deep, i % 4);
	large = code::many(i, 1, 2, 3, 4, 5, 0.25, i, 7, large);
	sum = sum + long(large.value[i % 9]);
	if (setjmp(back) == 0)
		code::jumps(i);
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? std::atoi(argv[1]) : 10;
	std::vector<std::thread> threads;
	std::atomic<long> total{};
	long sum = 0;

	for (int i = 0; i < times; i++)
		sum += once(i);
	threads.reserve(3);
	for (int t = 0; t < 3; t++)
		threads.emplace_back([&total, times] {
			for (int i = 0; i < times; i++)
				total += code::plain(i);
		});
	for (std::thread &thread : threads)
		thread.join();
	std::printf("sum %ld %ld %d\n", sum, total.load(), destroyed);
	for (const counted *it : { &c_plain, &c_throws, &c_cleans, &c_calls_first, &c_recurse, &c_tail, &c_jumps,
				   &c_fill, &c_many, &c_deep })
		std::printf("%s %ld %ld\n", it->name, it->calls.load(), it->left.load());
	return 0;
}
