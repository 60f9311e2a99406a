/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks from every C entry point, filled with a pattern that is checked when they move or go. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "truth.h"

struct block {
	unsigned char *p;
	size_t size;
	size_t alignment;  /* 0: any pointer that malloc returns */
	int aligned_alloc; /* from aligned_alloc with a size that is a multiple: free_aligned_sized may take it */
};

/* What not every allocator has or does right; reading the options' names from a comma list. */
extern int blocks_pvalloc;   /* pvalloc exists: jemalloc has none, and can't free what libc's returns */
extern int blocks_cfree;     /* cfree exists: the same */
extern int blocks_alignment; /* what aligned functions return is aligned: mimalloc 2.0.9 fails at that */
extern int blocks_failures;  /* a huge request fails without a word: tcmalloc prints one */
void blocks_options(const char *list);

/* Allocates `size` bytes by a way drawn from *random. */
void block_allocate(struct block *b, size_t size, uint64_t *random, struct truth *t);

/* Gives the block another size, by realloc or reallocarray. */
void block_resize(struct block *b, size_t size, uint64_t *random, struct truth *t);

/* Frees by a way drawn from *random; the block is empty then. */
void block_free(struct block *b, uint64_t *random, struct truth *t);

/* Calls that must fail: they are no allocations, and a block that could not grow is still there. */
void block_failures(struct block *b);

#endif
