/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_in PLACE: the only pointers to 40 blocks of 1,500 bytes lie in one place, three blocks of 777 are lost. The place is
 * memory that a fork has no pages of (file, unlinked, zero, memfd: shared; sparse: a large file with few pages), or has not at
 * all (dontfork, wiped, block: pages of a live block that are not copied), or one that can't be written to any more (readonly).
 * kept_in PLACE tick: an interval timer's handler interrupts whatever waits.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define BYTES (1u << 20)
#define NOINLINE __attribute__((noinline))

static void *volatile keep;
static volatile sig_atomic_t ticks;

static void *map(size_t bytes, int flags, int fd)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static void *map_file(size_t bytes, int fd)
{
	return ftruncate(fd, (off_t)bytes) == 0 ? map(bytes, MAP_SHARED, fd) : MAP_FAILED;
}

static int make(const char *name)
{
	return open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static void *advised(int advice)
{
	void *area = map(BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	madvise(area, BYTES, advice);
	return area;
}

static void *place_of(const char *name)
{
	if (strcmp(name, "file") == 0)
		return map_file(BYTES, make("index"));
	if (strcmp(name, "unlinked") == 0) {
		int fd = make("index");
		void *area = map_file(BYTES, fd);

		close(fd);
		unlink("index");
		return area;
	}
	if (strcmp(name, "sparse") == 0) /* 64 GiB: to look at each page would take minutes */
		return map_file((size_t)64 << 30, make("index"));
	if (strcmp(name, "memfd") == 0)
		return map_file(BYTES, memfd_create("index", 0));
	if (strcmp(name, "zero") == 0)
		return map((size_t)16 << 30, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (strcmp(name, "dontfork") == 0)
		return advised(MADV_DONTFORK);
	if (strcmp(name, "wiped") == 0)
		return advised(MADV_WIPEONFORK);
	if (strcmp(name, "block") == 0) {
		keep = aligned_alloc(4096, 65536);
		madvise(keep, 65536, MADV_DONTFORK);
		return keep;
	}
	return map(BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

NOINLINE static void fill(void **place)
{
	for (int i = 0; i < 40; i++)
		memset(place[i] = malloc(1500), 3, 1500);
}

NOINLINE static void lose(void)
{
	for (int i = 0; i < 3; i++)
		memset(malloc(777), 3, 777);
}

/* Where earlier calls' words lay. */
NOINLINE static void scrub(void)
{
	volatile char words[16384];

	memset((char *)words, 0, sizeof(words));
}

static void tick(int number)
{
	(void)number;
	ticks++;
}

static void start_ticks(void)
{
	struct sigaction action = { .sa_handler = tick }; /* without SA_RESTART */
	struct itimerval often = { { 0, 500 }, { 0, 500 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	void *place = place_of(name);

	if (place == MAP_FAILED)
		return 2;
	fill(place);
	if (strcmp(name, "readonly") == 0)
		mprotect(place, BYTES, PROT_READ);
	lose();
	scrub();
	if (argc > 2)
		start_ticks();
	exit(0);
}
