/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jemalloc_locks WHAT: the program allocates for 30 ms where jemalloc must not be asked about itself, as this thread holds the
 * lock of mallctl() (an arena is being made, and its memory is asked of this program):
 *   hook      in the function that gives the memory
 *   handler   in the handler of a signal that interrupts it
 * or where another thread may have held it:
 *   clone     in a child that libc knows nothing of
 *   fork      in one that it does: there it may be asked
 */
#include <jemalloc/jemalloc.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "truth.h"

static bool in_handler, was_there;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Pairs of one size that threads' caches have. */
static void allocate(void)
{
	uint64_t end = now() + 30000000;

	while (now() < end)
		for (int i = 0; i < 100; i++)
			/* NOLINTNEXTLINE(bugprone-signal-handler): the allocator bears it, and that is what is tested */
			free(malloc(64));
	was_there = true;
}

static void handle(int signal)
{
	(void)signal;
	allocate();
}

static void *give(extent_hooks_t *hooks, void *at, size_t size, size_t alignment, bool *zero, bool *commit,
		  unsigned arena)
{
	char *got = mmap(NULL, size + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)hooks;
	(void)arena;
	if (at || got == MAP_FAILED)
		return NULL;
	if (!was_there && in_handler)
		raise(SIGUSR1);
	else if (!was_there)
		allocate();
	*zero = *commit = true;
	return (void *)(((uintptr_t)got + alignment - 1) / alignment * alignment);
}

static void make_arena(void)
{
	static extent_hooks_t hooks = { .alloc = give };
	extent_hooks_t *given = &hooks;
	unsigned arena;
	size_t size = sizeof(arena);

	if (mallctl("arenas.create", &arena, &size, &given, sizeof(given)) != 0 || !was_there)
		truth_die("arenas.create");
}

static void make_child(bool libc_knows)
{
	pid_t pid = libc_knows ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status;

	if (pid == 0) {
		allocate();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		truth_die("child");
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	free(malloc(64));
	signal(SIGUSR1, handle);
	in_handler = strcmp(what, "handler") == 0;
	if (in_handler || strcmp(what, "hook") == 0)
		make_arena();
	else
		make_child(strcmp(what, "fork") == 0);
	return 0;
}
