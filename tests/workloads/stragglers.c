/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stragglers KIND RANK STEPS MS [STEP]: the ranks of an MPI job do the same work in each step, and then reduce together; but one rank is late,
 * in all steps or in one. KIND says why: sleep, batch (it does more of the work), leak (it walks a list to which it adds), faults (it loads
 * pages afresh); none: nobody. MS: about how long that takes, except of a leak. Each rank writes its own log, times of all of its calls,
 * to the file log.RANK: op, step, when it came, when it left (CLOCK_REALTIME, ns).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <tprof.h>

enum { DOUBLES = 1000, PAGES = 256, PAGE = 4096 };

static FILE *record;
static double given[DOUBLES], reduced[DOUBLES];
static volatile double sink;

static long long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* So much work on one processor, however many others want it. */
static __attribute__((noinline)) void train_batch(long long ns)
{
	long long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 1; i < 20000; i++)
			sink += 1.0 / i; /* the batch */
}

static __attribute__((noinline)) void doze(long long ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL); /* the sleep */
}

struct note {
	struct note *next;
	char text[4000];
};
static struct note *notes;

/* Each step walks what all steps before have left. */
static __attribute__((noinline)) void remember(int count)
{
	for (int i = 0; i < count; i++) {
		struct note *note = calloc(1, sizeof(*note));

		if (!note)
			exit(1);
		note->next = notes;
		notes = note;
	}
	for (int round = 0; round < 200; round++)
		for (const struct note *note = notes; note; note = note->next)
			sink += note->text[0]; /* the leak */
}

static __attribute__((noinline)) void load_pages(long long ns)
{
	long long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
		char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages == MAP_FAILED)
			exit(1);
		madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
		for (int i = 0; i < PAGES; i++)
			((volatile char *)pages)[i * PAGE] = 1; /* the loader */
		munmap(pages, PAGES * PAGE);
	}
}

static void be_late(const char *kind, long long ns)
{
	if (strcmp(kind, "sleep") == 0)
		doze(ns);
	else if (strcmp(kind, "batch") == 0)
		train_batch(ns);
	else if (strcmp(kind, "leak") == 0)
		remember(500);
	else if (strcmp(kind, "faults") == 0)
		load_pages(ns);
}

#define CALL(name, ...)                                                                                                \
	do {                                                                                                           \
		long long came = now(CLOCK_REALTIME);                                                                  \
                                                                                                                       \
		name(__VA_ARGS__);                                                                                     \
		fprintf(record, "%s %d %lld %lld\n", #name, step, came, now(CLOCK_REALTIME));                          \
	} while (0)

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "none";
	int late = argc > 2 ? atoi(argv[2]) : 0, steps = argc > 3 ? atoi(argv[3]) : 10, rank, step = 0;
	int only = argc > 5 ? atoi(argv[5]) : 0;
	long long ns = (argc > 4 ? atoll(argv[4]) : 10) * 1000000;
	char name[64];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "log.%d", rank);
	record = fopen(name, "w");
	if (!record)
		return 1;
	CALL(MPI_Barrier, MPI_COMM_WORLD);
	for (step = 1; step <= steps; step++) {
		train_batch(500000);
		if (rank == late && (!only || only == step))
			be_late(kind, ns);
		CALL(MPI_Allreduce, given, reduced, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (step % 5 == 0)
			CALL(MPI_Barrier, MPI_COMM_WORLD);
		tprof_step(0);
	}
	fclose(record);
	MPI_Finalize();
	return 0;
}
