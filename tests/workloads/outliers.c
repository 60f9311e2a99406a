/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outliers: four hundred steps that do the same, but for five near the end that take long, each for a reason of its own: an op
 * takes long, memory is touched for the first time, another thread works meanwhile, the step sleeps, memory is taken and kept.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <tprof.h>

#include "truth.h"

#define STEPS 400
#define USUAL_NS 500000
#define LATE_NS 80000000
#define PAGES 20000
#define BLOCKS 5000
#define BLOCK 8192

/* By how much the five take longer, at least: more than any step in which the machine stood still. */
static uint64_t late_ns = LATE_NS;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* So much of the thread's own CPU time. */
static void work(uint64_t ns)
{
	uint64_t end = cpu_ns() + ns;

	while (cpu_ns() < end)
		;
}

static void op(const char *name, uint64_t ns)
{
	tprof_op_begin(name, NULL);
	work(ns);
	tprof_op_end();
}

static void touch_pages(void)
{
	size_t bytes = (size_t)PAGES * 4096;
	uint64_t begin = cpu_ns();
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		exit(1);
	madvise(pages, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)pages)[i] = 1;
	munmap(pages, bytes);
	if (cpu_ns() - begin < late_ns)
		work(late_ns - (cpu_ns() - begin));
}

static void *helper(void *context)
{
	(void)context;
	work(late_ns);
	return NULL;
}

static void another_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, helper, NULL) != 0)
		exit(1);
	pthread_join(thread, NULL);
}

static void keep_memory(void)
{
	static void *kept[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		kept[i] = malloc(BLOCK);
	if (!kept[BLOCKS - 1])
		exit(1);
	work(late_ns);
}

static void nap(void)
{
	struct timespec time = { (time_t)(late_ns / 1000000000), (long)(late_ns % 1000000000) };

	nanosleep(&time, NULL);
}

static void be_late(int step)
{
	switch (step) {
	case 380:
		op("seldom", late_ns);
		break;
	case 384:
		touch_pages();
		break;
	case 388:
		another_thread();
		break;
	case 392:
		nap();
		break;
	case 396:
		keep_memory();
		break;
	default:
		break;
	}
}

int main(void)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), end;
	char text[100];

	for (int step = 1; step <= STEPS; step++) {
		op("usual", USUAL_NS);
		be_late(step);
		tprof_step(0);
		end = clock_ns(CLOCK_MONOTONIC);
		if (step < 380 && 2 * (end - begin) > late_ns)
			late_ns = 2 * (end - begin);
		begin = end;
	}
	truth_write_text("", text, (size_t)snprintf(text, sizeof(text), "{\"late_ns\": %" PRIu64 "}\n", late_ns));
	return 0;
}
