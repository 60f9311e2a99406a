/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_work MS: four named threads, each with its own share of the work: thread k (1 to 4) makes 100 k blocks of 64 k bytes,
 * frees 50 k of them behind the peak, which is at a barrier, and 20 k more are freed by main; it computes k * MS milliseconds
 * of CPU time in a function of its own, half of that in an op, with an op within. What each did, as it counted and measured it
 * itself, is the truth.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <tprof.h>

#include "truth.h"

#define THREADS 4
#define MOST (100 * THREADS)

struct work {
	void *blocks[MOST];
	struct truth truth;
	uint64_t cpu_ns, op_ns;
	unsigned int number;
	int tid;
};

static struct work works[THREADS + 1];
static pthread_barrier_t all_live;
static uint64_t milliseconds;
static volatile unsigned int sum;

static uint64_t now(clockid_t clock)
{
	struct timespec at;

	if (clock_gettime(clock, &at))
		truth_die("clock_gettime");
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

#define BURN(name)                                                                                                     \
	__attribute__((noinline)) static void name(uint64_t ns)                                                        \
	{                                                                                                              \
		uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;                                                      \
                                                                                                                       \
		while (now(CLOCK_THREAD_CPUTIME_ID) < end)                                                             \
			for (unsigned int i = 0; i < 100000; i++)                                                      \
				sum += i;                                                                              \
	}
BURN(burn_one)
BURN(burn_two)
BURN(burn_three)
BURN(burn_four)

static void (*const burn[THREADS + 1])(uint64_t) = { NULL, burn_one, burn_two, burn_three, burn_four };

static void allocate(struct work *work)
{
	for (unsigned int i = 0; i < 100 * work->number; i++) {
		work->blocks[i] = malloc(64 * work->number);
		truth_alloc(&work->truth, 64 * work->number);
	}
}

static void give_back(struct work *work, unsigned int from, unsigned int count)
{
	for (unsigned int i = from; i < from + count; i++)
		free(work->blocks[i]);
}

static void compute(struct work *work)
{
	uint64_t half = work->number * milliseconds * 500000, begin;

	burn[work->number](half);
	begin = now(CLOCK_MONOTONIC);
	tprof_op_begin("outer", "work");
	tprof_op_begin("inner", "work");
	burn[work->number](half);
	tprof_op_end();
	tprof_op_end();
	work->op_ns = now(CLOCK_MONOTONIC) - begin;
}

static void *run(void *argument)
{
	struct work *work = argument;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", work->number);
	pthread_setname_np(pthread_self(), name);
	work->tid = (int)syscall(SYS_gettid);
	allocate(work);
	pthread_barrier_wait(&all_live);
	give_back(work, 0, 50 * work->number);
	work->truth.frees += 50 * work->number;
	compute(work);
	work->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS + 1];
	char text[1500];
	int length = 0;

	milliseconds = argc > 1 ? (uint64_t)atoi(argv[1]) : 20;
	pthread_barrier_init(&all_live, NULL, THREADS);
	for (unsigned int k = 1; k <= THREADS; k++) {
		works[k].number = k;
		if (pthread_create(&threads[k], NULL, run, &works[k]))
			truth_die("pthread_create");
	}
	for (unsigned int k = 1; k <= THREADS; k++)
		pthread_join(threads[k], NULL);
	for (unsigned int k = 1; k <= THREADS; k++)
		give_back(&works[k], 50 * k, 20 * k);
	for (unsigned int k = 1; k <= THREADS; k++)
		length +=
			snprintf(text + length, sizeof(text) - (size_t)length,
				 "%s\"worker-%u\": {\"tid\": %d, \"allocations\": %" PRIu64 ", \"frees\": %" PRIu64
				 ", \"bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 ", \"cpu_ns\": %" PRIu64
				 ", \"op_ns\": %" PRIu64 "}",
				 k == 1 ? "{" : ", ", k, works[k].tid, works[k].truth.allocations, works[k].truth.frees,
				 works[k].truth.bytes, works[k].truth.peak_bytes, works[k].cpu_ns, works[k].op_ns);
	length += snprintf(text + length, sizeof(text) - (size_t)length, "}\n");
	truth_write_text("", text, (size_t)length);
	return 0;
}
