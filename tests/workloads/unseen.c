/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unseen WHAT: memory that no hook of malloc sees, or sees the wrong way:
 *   private   blocks of an allocator of this program's own, with the names that jemalloc has under a prefix
 *   obstack   parts of the chunks of an obstack
 *   none      blocks of malloc, though the allocator is here
 */
#include <obstack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define COUNT 1000
#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

void *_xjem_mallocx(size_t size, int flags);
void *_xjem_rallocx(void *block, size_t size, int flags);

static void *kept[COUNT];

void *_xjem_mallocx(size_t size, int flags)
{
	static char *arena;
	static size_t used;

	(void)flags;
	if (!arena)
		arena = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	used += size;
	return used <= 1 << 20 ? arena + used - size : NULL;
}

void *_xjem_rallocx(void *block, size_t size, int flags)
{
	return memcpy(_xjem_mallocx(size, flags), block, size);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "none";
	struct obstack stack;

	if (strcmp(what, "obstack") == 0)
		obstack_init(&stack);
	for (int i = 0; i < COUNT; i++)
		kept[i] = strcmp(what, "private") == 0	 ? _xjem_mallocx(100, 0)
			  : strcmp(what, "obstack") == 0 ? obstack_alloc(&stack, 100)
							 : malloc(100);
	return kept[COUNT - 1] == NULL;
}
