/* SPDX-License-Identifier: Apache-2.0 */
/*
 * growth WHAT STEPS SEED: a training loop with what such loops have that is no leak, of random sizes: temporaries, a batch that
 * is kept until the next step, a cache with replacement, a queue that fills and empties. And beside it WHAT:
 *   none       nothing
 *   cache      a cache without eviction: 3 entries of 200 bytes a step
 *   tenth      160 bytes in every tenth step
 *   epoch      800 bytes in every fiftieth step
 *   tiny       16 bytes a step among 20,000 allocations a step
 *   list       an array of pointers that grows by an eighth when it is full, of objects of 1000 bytes, one a step
 *   late       500 bytes a step, from two thirds of the steps on
 *   warm-up    a table that fills in the first third
 *   sawtooth   a cache that is emptied whenever it holds 100 entries
 *   fragments  half of the blocks stay, and what the others leave is too small for the next: RSS grows twice as fast
 *   map        anonymous mappings of 64 KiB, touched, one a step
 *   file       a shared mapping of a file, of which 64 KiB more are written to in each step
 *   stack      recursion that goes 64 KiB deeper in each step
 *   clock      1000 bytes for each 2 ms that passed, however late it looks at its clock, and no steps
 *   spread     160 bytes a step, each time by another of 256 ways: each stack has too few to be told from chance
 * Its own growth's rate and lines stand in the test.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <tprof.h>
#include <unistd.h>

#include "truth.h"

#define KEPT 64
#define MANY 100000
#define COUNTED_US 5000 /* a step: pages are counted, and then not for 400 times as long as that took */

static void *kept[MANY];
static size_t kept_count;
static uint64_t state;

static size_t between(size_t low, size_t high)
{
	return truth_between(&state, low, high);
}

static void *get(size_t size)
{
	void *block = malloc(size);

	if (!block)
		truth_die("malloc");
	return block;
}

/* ---- what is no leak ---- */

static void temporaries(size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(get(between(16, 256)));
}

static void new_batch(void)
{
	static void *batch;

	free(batch);
	batch = get(between(1000, 9000));
}

static void use_cache(void)
{
	static void *cache[KEPT];

	for (int i = 0; i < 3; i++) {
		size_t slot = between(0, KEPT - 1);

		free(cache[slot]);
		cache[slot] = get(between(16, 4096));
	}
}

static void use_queue(void)
{
	static void *queue[1000];
	static size_t length;

	if (length < 1000 && between(0, 1))
		queue[length++] = get(300);
	else if (length)
		free(queue[--length]);
}

/* ---- what grows ---- */

static void remember(size_t size)
{
	kept[kept_count++ % MANY] = get(size);
}

static void append_to_list(void)
{
	static void **list;
	static size_t length, room;

	if (length == room) {
		room += room / 8 + 4;
		list = realloc(list, room * sizeof(*list));
		if (!list)
			truth_die("realloc");
	}
	list[length++] = get(1000);
}

static void fill_table(void)
{
	remember(2000);
}

static void fill_and_empty(void)
{
	static void *entries[100];
	static size_t count;

	for (int i = 0; i < 3; i++)
		entries[count++] = get(700);
	if (count < 99)
		return;
	while (count)
		free(entries[--count]);
}

/* Of neighbours every second one stays, and each step wants larger ones than the holes that the others leave. */
static void fragment(size_t step)
{
	size_t size = 1000 + 16 * step;
	void *blocks[64];

	for (int i = 0; i < 64; i++)
		blocks[i] = memset(get(size), 1, size);
	for (int i = 0; i < 64; i += 2)
		free(blocks[i]);
	usleep(COUNTED_US);
}

static void map_some(void)
{
	void *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		truth_die("mmap");
	memset(at, 1, 65536);
	usleep(COUNTED_US);
}

static void touch_file(size_t step, size_t steps)
{
	static char *mapped;
	size_t size = steps * 65536;
	int file;

	if (!mapped) {
		file = open("touched", O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (file < 0 || unlink("touched") != 0 || ftruncate(file, (off_t)size) != 0)
			truth_die("touched");
		mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		if (mapped == MAP_FAILED)
			truth_die("mmap");
	}
	memset(mapped + step * 65536, 1, 65536);
	usleep(COUNTED_US);
}

#define NOINLINE __attribute__((noinline))

NOINLINE static size_t go_down(size_t levels)
{
	volatile char frame[65536 - 64];

	frame[0] = (char)levels;
	for (size_t i = 0; i < sizeof(frame); i += 4096)
		frame[i] = 1;
	return (levels ? go_down(levels - 1) : 0) + (size_t)frame[4096];
}

static void use_stack(size_t step)
{
	if (go_down(step) != step + 1)
		truth_die("go_down");
	usleep(COUNTED_US);
}

/* ---- one leak, by many ways ---- */

static void go(size_t path, int length);

NOINLINE static void go_left(size_t path, int length)
{
	go(path, length);
}

NOINLINE static void go_right(size_t path, int length)
{
	go(path, length);
}

NOINLINE static void go(size_t path, int length)
{
	if (!length)
		remember(160);
	else if (path & 1)
		go_left(path >> 1, length - 1);
	else
		go_right(path >> 1, length - 1);
}

static void grow(const char *what, size_t step, size_t steps)
{
	if (strcmp(what, "cache") == 0)
		for (int i = 0; i < 3; i++)
			remember(200);
	if (strcmp(what, "tenth") == 0 && step % 10 == 9)
		remember(160);
	if (strcmp(what, "epoch") == 0 && step % 50 == 49)
		remember(800);
	if (strcmp(what, "tiny") == 0)
		remember(16);
	if (strcmp(what, "list") == 0)
		append_to_list();
	if (strcmp(what, "late") == 0 && step >= steps * 2 / 3)
		remember(500);
	if (strcmp(what, "warm-up") == 0 && step < steps / 3)
		fill_table();
	if (strcmp(what, "sawtooth") == 0)
		fill_and_empty();
	if (strcmp(what, "fragments") == 0)
		fragment(step);
	if (strcmp(what, "map") == 0)
		map_some();
	if (strcmp(what, "file") == 0)
		touch_file(step, steps);
	if (strcmp(what, "stack") == 0)
		use_stack(step);
	if (strcmp(what, "spread") == 0) {
		tprof_op_begin("remember everything", "growth");
		go(between(0, 255), 8);
		tprof_op_end();
	}
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Until a pause that the machine made is no more than a twentieth of the run. */
static void grow_by_the_clock(size_t count)
{
	double begin = now(), before = begin, longest = 0, at;

	for (size_t i = 0; i < count || 20 * longest > before - begin; i++) {
		usleep(2000);
		at = now();
		longest = at - before > longest ? at - before : longest;
		before = at;
		while ((double)kept_count * 0.002 < at - begin)
			remember(1000);
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";
	size_t steps = argc > 2 ? (size_t)atol(argv[2]) : 200;

	state = argc > 3 ? (uint64_t)atol(argv[3]) * 0x9e3779b97f4a7c15u + 1 : 1;
	if (strcmp(what, "clock") == 0)
		grow_by_the_clock(steps);
	for (size_t step = 0; step < steps; step++) {
		temporaries(strcmp(what, "tiny") == 0 ? 20000 : 100);
		new_batch();
		use_cache();
		use_queue();
		grow(what, step, steps);
		tprof_step(1);
	}
	return 0;
}
