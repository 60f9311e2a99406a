/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paused_kinds mallocx | mmap COUNT [later]: COUNT times jemalloc's mallocx, rallocx, xallocx and dallocx, or mmap, mremap and munmap;
 * later: recording is paused before. work() is what callgrind counts.
 */
#include <jemalloc/jemalloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <tprof.h>

#include "truth.h"

#define PAGE 4096

void work(size_t count, bool maps);

static void allocate(void)
{
	void *block = mallocx(100, 0);

	block = rallocx(block, 200, 0);
	xallocx(block, 200, 0, 0);
	dallocx(block, 0);
}

static void map(void)
{
	void *at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at = mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
	if (munmap(at, 2 * PAGE) != 0)
		truth_die("munmap");
}

__attribute__((noinline)) void work(size_t count, bool maps)
{
	for (size_t i = 0; i < count; i++)
		if (maps)
			map();
		else
			allocate();
}

int main(int argc, char **argv)
{
	bool maps;

	if (argc < 3)
		truth_die("usage: paused_kinds mallocx | mmap COUNT [later]");
	maps = strcmp(argv[1], "mmap") == 0;
	if (argc > 3)
		tprof_stop();
	work(strtoul(argv[2], NULL, 10), maps);
	return 0;
}
