/* SPDX-License-Identifier: Apache-2.0 */
#include "blocks.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

/* Not in every libc: weak, and the plain free where they are missing. */
extern void cfree(void *p) __attribute__((weak));
extern void free_sized(void *p, size_t size) __attribute__((weak));
extern void free_aligned_sized(void *p, size_t alignment, size_t size) __attribute__((weak));

int blocks_pvalloc, blocks_cfree, blocks_alignment, blocks_failures;

#define HUGE_SIZE ((size_t)PTRDIFF_MAX - 4096)

void blocks_options(const char *list)
{
	blocks_pvalloc = strstr(list, "pvalloc") != NULL;
	blocks_cfree = strstr(list, "cfree") != NULL && cfree;
	blocks_alignment = strstr(list, "alignment") != NULL;
	blocks_failures = strstr(list, "failures") != NULL;
}

static void block_fill(const struct block *b)
{
	if (b->size)
		memset(b->p, (int)(b->size & 0xff), b->size);
}

static void block_check(const struct block *b, size_t size)
{
	unsigned char value = (unsigned char)(b->size & 0xff);

	if (size && (b->p[0] != value || b->p[size - 1] != value))
		truth_die("a block's content");
	if (malloc_usable_size(b->p) < b->size)
		truth_die("malloc_usable_size");
}

static void *allocate_aligned(struct block *b, size_t size, uint64_t *random)
{
	size_t alignment = (size_t)16 << truth_between(random, 0, 8);
	void *p = NULL;

	b->alignment = alignment;
	switch (truth_between(random, 0, 4)) {
	case 0:
		return memalign(alignment, size);
	case 1:
		return posix_memalign(&p, alignment, size) ? NULL : p;
	case 2:
		b->aligned_alloc = 1;
		return aligned_alloc(alignment, size);
	case 3:
		b->alignment = (size_t)sysconf(_SC_PAGESIZE);
		return valloc(size);
	default:
		b->alignment = (size_t)sysconf(_SC_PAGESIZE);
		return blocks_pvalloc ? pvalloc(size) : valloc(size);
	}
}

void block_allocate(struct block *b, size_t size, uint64_t *random, struct truth *t)
{
	b->alignment = 0;
	b->aligned_alloc = 0;
	switch (truth_between(random, 0, 7)) {
	case 0:
	case 1:
		b->p = malloc(size);
		break;
	case 2:
		b->p = calloc(1, size);
		break;
	case 3:
		size &= ~(size_t)7;
		b->p = calloc(size / 8, 8);
		break;
	case 4:
		b->p = realloc(NULL, size);
		break;
	case 5:
		size &= ~(size_t)3;
		b->p = reallocarray(NULL, size / 4, 4);
		break;
	default:
		b->p = allocate_aligned(b, size, random);
	}
	if (!b->p || (size && blocks_alignment && b->alignment && (uintptr_t)b->p % b->alignment))
		truth_die("an allocation");
	b->size = size;
	truth_alloc(t, size);
	block_fill(b);
}

void block_resize(struct block *b, size_t size, uint64_t *random, struct truth *t)
{
	size_t old = b->size;
	unsigned char *p;

	block_check(b, old);
	if (truth_random(random) & 1) {
		p = realloc(b->p, size);
	} else {
		size &= ~(size_t)1;
		p = reallocarray(b->p, size / 2, 2);
	}
	truth_free(t, old);
	b->p = p;
	b->alignment = 0;
	b->aligned_alloc = 0;
	if (!p) {
		if (size)
			truth_die("realloc");
		b->size = 0; /* realloc(p, 0) freed it */
		return;
	}
	truth_alloc(t, size);
	if (old && size && p[0] != (unsigned char)(old & 0xff))
		truth_die("the content behind realloc");
	b->size = size;
	block_fill(b);
}

void block_free(struct block *b, uint64_t *random, struct truth *t)
{
	size_t way = truth_between(random, 0, 5);

	block_check(b, b->size);
	errno = 4711;
	if (way == 0 && blocks_cfree)
		cfree(b->p);
	else if (way == 1 && free_sized && !b->alignment)
		free_sized(b->p, b->size);
	else if (way == 2 && free_aligned_sized && b->aligned_alloc)
		free_aligned_sized(b->p, b->alignment, b->size);
	else
		free(b->p);
	if (errno != 4711)
		truth_die("errno behind free");
	truth_free(t, b->size);
	b->p = NULL;
	b->size = 0;
}

void block_failures(struct block *b)
{
	size_t volatile huge = HUGE_SIZE; /* out of the compiler's sight */
	void *p = b;

	if (!blocks_failures)
		return;
	if (malloc(huge) || errno != ENOMEM || calloc(huge, 16) || reallocarray(NULL, huge, 16) || memalign(64, huge) ||
	    aligned_alloc(64, huge) || valloc(huge) || (blocks_pvalloc && pvalloc(huge)))
		truth_die("an allocation that must fail");
	if (posix_memalign(&p, 64, huge) != ENOMEM || posix_memalign(&p, 3, 64) != EINVAL)
		truth_die("a posix_memalign that must fail");
	free(NULL);
	if (!b->p)
		return;
	if (realloc(b->p, huge) || reallocarray(b->p, huge, 16))
		truth_die("a realloc that must fail");
	block_check(b, b->size);
}
