// SPDX-License-Identifier: Apache-2.0
// own_heap: four threads allocate from the allocator that is linked into the program: as malloc, or (RJEM) as Rust's crate
// links jemalloc. Prints how many blocks it took and gave back, and how many, of how many bytes, are left in keep().
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#ifdef RJEM
extern "C" {
void *_rjem_malloc(size_t);
void *_rjem_calloc(size_t, size_t);
void *_rjem_realloc(void *, size_t);
int _rjem_posix_memalign(void **, size_t, size_t);
void _rjem_free(void *);
void *_rjem_mallocx(size_t, int);
void *_rjem_rallocx(void *, size_t, int);
void _rjem_sdallocx(void *, size_t, int);
}
#define malloc _rjem_malloc
#define calloc _rjem_calloc
#define realloc _rjem_realloc
#define posix_memalign _rjem_posix_memalign
#define free _rjem_free
#else
static void *_rjem_mallocx(size_t size, int)
{
	return malloc(size);
}

static void *_rjem_rallocx(void *old, size_t size, int)
{
	return realloc(old, size);
}

static void _rjem_sdallocx(void *block, size_t, int)
{
	free(block);
}
#endif

static std::atomic<long> taken, given, kept_blocks, kept_bytes;

__attribute__((noinline, noclone)) void *keep(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	taken++;
	return block;
}

static void give(void *block)
{
	free(block);
	given++;
}

static void odd_ones()
{
	void *block = calloc(3, 50);

	block = realloc(block, 5000);
	give(block);
	taken += 2;
	given++;
	if (posix_memalign(&block, 64, 100) == 0) {
		taken++;
		give(block);
	}
	block = _rjem_mallocx(300, 0);
	block = _rjem_rallocx(block, 700, 0);
	_rjem_sdallocx(block, 700, 0);
	taken += 2;
	given += 2;
#ifndef RJEM
	static thread_local long *volatile numbers;

	numbers = new long[30];
	delete[] numbers;
	taken++;
	given++;
#endif
}

static void work()
{
	static thread_local void *mine[2000];

	for (size_t i = 0; i < 20000; i++) {
		size_t size = 1000 + i % 7;
		void *block = keep(size);

		if (i % 10)
			give(block);
		else
			mine[i / 10] = block;
		if (i % 100 == 0)
			odd_ones();
	}
	for (size_t i = 0; i < 2000; i++) {
		if (i % 4 == 0) {
			give(mine[i]);
			continue;
		}
		kept_blocks++;
		kept_bytes += 1000 + (long)(10 * i % 7);
	}
}

int main()
{
	std::thread threads[4];

	for (auto &thread : threads)
		thread = std::thread(work);
	for (auto &thread : threads)
		thread.join();
	printf("taken %ld\ngiven %ld\nkept %ld %ld\n", taken.load(), given.load(), kept_blocks.load(),
	       kept_bytes.load());
}
