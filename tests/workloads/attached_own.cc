// SPDX-License-Identifier: Apache-2.0
// attached_own THREADS: jemalloc is linked into it as Rust's crate does it, and threads call it and a kernel, a static function,
// without a break, and check what they get. Does what single letters of its standard input say, and answers each with a
// line. w: 1,000 calls of a kernel, and ten blocks of 777 B that are kept. s: sleeps for a second. q: ends; 1 if anything was wrong.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
void *_rjem_mallocx(size_t, int);
void *_rjem_rallocx(void *, size_t, int);
void _rjem_sdallocx(void *, size_t, int);
}

#define APART __attribute__((noinline, noclone))

static std::atomic<bool> over, wrong;

static APART unsigned long kernel_churn(unsigned long x, unsigned long y)
{
	__asm__ volatile("" : "+r"(x)); // not once for all
	for (unsigned long i = 0; i < 20; i++)
		x = x * 3 + i + y;
	return x;
}

static APART unsigned long kernel_asked(unsigned long x)
{
	__asm__ volatile("" : "+r"(x));
	return x * x + 1;
}

static APART void *keep()
{
	void *block = _rjem_mallocx(777, 0);

	memset(block, 1, 777);
	return block;
}

static void churn(unsigned int seed)
{
	unsigned long is = kernel_churn(7, 3);

	for (unsigned long round = 0; !over; round++) {
		size_t size = 1 + (round * 37 + seed) % 900;
		auto *block = static_cast<unsigned char *>(_rjem_mallocx(size, 0));

		memset(block, static_cast<int>(round & 255), size);
		block = static_cast<unsigned char *>(_rjem_rallocx(block, size + 100, 0));
		if (block[size - 1] != (round & 255) || kernel_churn(7, 3) != is)
			wrong = true;
		_rjem_sdallocx(block, size + 100, 0);
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads(argc > 1 ? static_cast<size_t>(atoi(argv[1])) : 1);
	unsigned long sum = 0;
	unsigned int seed = 0;
	char letter;

	for (auto &thread : threads)
		thread = std::thread(churn, seed++);
	while (read(0, &letter, 1) == 1 && letter != 'q') {
		for (int i = 0; letter == 'w' && i < 1000; i++)
			sum += kernel_asked(static_cast<unsigned long>(i));
		for (int i = 0; letter == 'w' && i < 10; i++)
			keep();
		if (letter == 's' && sleep(1) != 0)
			wrong = true;
		if (write(1, ".\n", 2) != 2)
			wrong = true;
	}
	over = true;
	for (auto &thread : threads)
		thread.join();
	return wrong || sum % 1000 == 1;
}
