/* SPDX-License-Identifier: Apache-2.0 */
/* mmap, munmap and mremap with a known truth: anonymous and file mappings, holes, growth, moves, MAP_FIXED. */
#include "truth.h"

#include <sys/mman.h>

#define PAGE ((size_t)4096)

static uint64_t mapped, peak, maps, unmaps;

static char *map(void *at, size_t pages, int flags, int fd)
{
	char *p = mmap(at, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, fd, 0);

	if (p == MAP_FAILED)
		truth_die("mmap");
	maps++;
	mapped += pages * PAGE;
	if (mapped > peak)
		peak = mapped;
	return p;
}

static void unmap(char *p, size_t pages)
{
	if (munmap(p, pages * PAGE))
		truth_die("munmap");
	unmaps++;
	mapped -= pages * PAGE;
}

static char *remap(char *p, size_t old, size_t new, int flags)
{
	char *q = mremap(p, old * PAGE, new *PAGE, flags);

	if (q == MAP_FAILED)
		return NULL;
	unmaps++; /* as realloc: the old mapping goes, the new one comes */
	maps++;
	mapped = mapped - old * PAGE + new *PAGE;
	if (mapped > peak)
		peak = mapped;
	return q;
}

int main(int argc, char **argv)
{
	char *p = map(NULL, 100, MAP_ANONYMOUS, -1);
	char *q, *r, *file;
	char text[256];
	int fd = open(argc > 1 ? argv[1] : argv[0], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		truth_die("open");
	/* A hole, so that 40 and 40 pages are left; then both halves and the hole, before anything else can lie in it. */
	unmap(p + 40 * PAGE, 20);
	unmap(p, 100);
	mapped += 20 * PAGE;
	q = map(NULL, 10, MAP_ANONYMOUS, -1);
	q = remap(q, 10, 200, MREMAP_MAYMOVE);
	if (!q)
		truth_die("mremap");
	q = remap(q, 200, 50, MREMAP_MAYMOVE);			  /* shrinks */
	r = map(q + 10 * PAGE, 5, MAP_ANONYMOUS | MAP_FIXED, -1); /* in the place of five pages of q */
	mapped -= 5 * PAGE;
	file = map(NULL, 2, 0, fd);
	close(fd);
	if (!q || !r || munmap(q + 1, PAGE) == 0 || mremap(q + 1, PAGE, PAGE, 0) != MAP_FAILED)
		truth_die("a call that must fail");
	unmap(file, 1);
	truth_write_text("", text,
			 (size_t)snprintf(text, sizeof(text),
					  "{\"mapped_end\": %" PRIu64 ", \"mapped_peak\": %" PRIu64
					  ", \"maps\": %" PRIu64 ", \"unmaps\": %" PRIu64 "}\n",
					  mapped, peak, maps, unmaps));
	TRUTH_SAY("mmap: done\n");
	return 0;
}
