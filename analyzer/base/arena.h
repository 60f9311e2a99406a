/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: bump allocation, and a pool of strings that keeps each text once. All its memory lives until
 * tpa_arena_free(). Not thread-safe.
 */
#ifndef TPROF_BASE_ARENA_H
#define TPROF_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct tpa_arena;

struct tpa_arena *tpa_arena_new(void);
void tpa_arena_free(struct tpa_arena *arena);

/* Returns `size` zeroed bytes, aligned to 16 bytes. */
void *tpa_arena_alloc(struct tpa_arena *arena, size_t size);

/* Returns the arena's only copy of `text`: equal texts have equal pointers. NULL if `text` is NULL. */
const char *tpa_arena_intern(struct tpa_arena *arena, const char *text);

#endif
