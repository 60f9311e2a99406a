/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starved EVENTS: takes all the address space that it may have; whatever it asks for then fails as it must, with errno ENOMEM
 * and nothing changed. EVENTS small blocks are allocated meanwhile, of memory that the allocator has left.
 */
#include "truth.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define BIG ((size_t)4 << 20)

static struct truth counts;
static volatile size_t most = SIZE_MAX / 2; /* nothing that the compiler knows */

static void check(int is_right, const char *what)
{
	if (!is_right)
		truth_die(what);
	errno = 0;
}

static void check_refusals(void)
{
	char *block = malloc(100);
	char *volatile same = block; /* the compiler would not have it used behind a realloc */
	void *out = &counts;

	truth_alloc(&counts, 100);
	memset(same, 7, 100);
	errno = 0;
	check(!malloc(BIG) && errno == ENOMEM, "malloc");
	check(!calloc(4, BIG) && errno == ENOMEM, "calloc");
	check(!calloc(most, 4) && errno == ENOMEM, "calloc of too much");
	check(!realloc(same, BIG) && errno == ENOMEM, "realloc");
	check(!reallocarray(same, most, 4) && errno == ENOMEM, "reallocarray of too much");
	check(!memalign(64, BIG) && errno == ENOMEM, "memalign");
	check(!aligned_alloc(64, BIG) && errno == ENOMEM, "aligned_alloc");
	check(!valloc(BIG) && errno == ENOMEM, "valloc");
	check(posix_memalign(&out, 64, BIG) == ENOMEM && out == &counts, "posix_memalign");
	check(mmap(NULL, BIG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == ENOMEM, "mmap");
	check(same[0] == 7 && same[99] == 7, "a block that could not grow");
	truth_free(&counts, 100);
	free(same);
}

static void allocate(long events)
{
	for (long i = 0; i < events; i++) {
		errno = 77;
		free(malloc(24));
		check(errno == 77, "errno");
		truth_alloc(&counts, 24);
		truth_free(&counts, 24);
	}
}

/* What the process may have: as much as it has now, and some. */
static void limit_space(size_t more)
{
	struct rlimit limit;
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		truth_die("statm");
	close(fd);
	limit.rlim_cur = limit.rlim_max = (rlim_t)(strtoul(text, NULL, 10) * 4096 + more);
	if (setrlimit(RLIMIT_AS, &limit))
		truth_die("setrlimit");
}

/* To the last page. */
static void fill_space(void)
{
	for (size_t size = BIG; size >= 4096; size /= 2)
		while (mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
			;
}

int main(int argc, char **argv)
{
	static void *held[64];
	size_t count = 0;

	allocate(10);
	limit_space(10 * BIG);
	errno = 0;
	while (count < 64 && (held[count] = malloc(BIG))) {
		truth_alloc(&counts, BIG);
		count++;
	}
	check(count > 0 && count < 64 && errno == ENOMEM, "to run out");
	fill_space();
	check_refusals();
	allocate(argc > 1 ? atol(argv[1]) : 0);
	while (count) {
		free(held[--count]);
		truth_free(&counts, BIG);
	}
	held[0] = malloc(BIG);
	check(held[0] != NULL, "after all");
	truth_alloc(&counts, BIG);
	truth_write(&counts);
	TRUTH_SAY("starved: done\n");
	return 0;
}
