/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults PAGES THREADS [fork|close]: ops whose page faults are known: "touch" writes to so many fresh pages, a quarter of
 * them within "inner"; "rest" touches none. Each thread does both ten times. What the kernel says of "touch" (getrusage)
 * and what was touched goes to the file that TRUTH_FILE names. fork: a child does the same, too. close: halfway all
 * descriptors but the first three are closed, and files of the program's own take their numbers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tprof.h>

enum { ROUNDS = 10, PAGE = 4096 };

static size_t pages;
static int close_all;
static long kernel_says;

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void touch(char *at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(volatile char *)(at + i * PAGE) = 1;
}

static void round_of_ops(void)
{
	char *fresh = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before;

	if (fresh == MAP_FAILED)
		exit(1);
	madvise(fresh, pages * PAGE, MADV_NOHUGEPAGE);
	tprof_op_begin("touch", "test");
	before = faults();
	touch(fresh, pages - pages / 4);
	tprof_op_begin("inner", "test");
	touch(fresh + (pages - pages / 4) * PAGE, pages / 4);
	tprof_op_end();
	__atomic_fetch_add(&kernel_says, faults() - before, __ATOMIC_RELAXED);
	tprof_op_end();
	tprof_op_begin("rest", "test");
	touch(fresh, pages);
	tprof_op_end();
	munmap(fresh, pages * PAGE);
}

/* Every byte that is read from them is one that the program misses. */
static void take_numbers(void)
{
	char name[] = "/tmp/faultsXXXXXX";
	int first = mkstemp(name);

	if (first < 0 || write(first, "0123456789", 10) != 10)
		exit(1);
	unlink(name);
	lseek(first, 0, SEEK_SET);
	while (dup(first) >= 0)
		;
}

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		if (close_all && i == ROUNDS / 2) {
			closefrom(3);
			take_numbers();
		}
		round_of_ops();
	}
	return NULL;
}

static void run_threads(int count)
{
	pthread_t threads[64];

	for (int i = 0; i < count - 1; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	work(NULL);
	for (int i = 0; i < count - 1; i++)
		pthread_join(threads[i], NULL);
}

static void write_truth(int threads, const char *suffix)
{
	const char *file = getenv("TRUTH_FILE");
	char name[4096];
	FILE *out;

	/* Nothing was read from the program's own file behind its back. */
	printf("offset %ld\n", close_all ? (long)lseek(3, 0, SEEK_CUR) : 0);
	if (!file)
		return;
	snprintf(name, sizeof(name), "%s%s", file, suffix);
	if (close_all)
		closefrom(3);
	out = fopen(name, "w");
	if (!out)
		exit(1);
	fprintf(out, "{\"pid\": %d, \"kernel\": %ld, \"touched\": %zu}\n", getpid(), kernel_says,
		pages * ROUNDS * (size_t)threads);
	fclose(out);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1, status = 0;
	const char *how = argc > 3 ? argv[3] : "";

	pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	if (threads < 1 || threads > 64)
		return 2;
	close_all = strcmp(how, "close") == 0;
	run_threads(threads);
	if (strcmp(how, "fork") == 0) {
		pid_t child = fork();

		if (!child) {
			kernel_says = 0;
			run_threads(threads);
			write_truth(threads, ".child");
			return 0;
		}
		waitpid(child, &status, 0);
	}
	write_truth(threads, "");
	return status ? 1 : 0;
}
