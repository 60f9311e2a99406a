/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that lives as long as the symbols do: bump allocation, and a pool of strings, each kept once.
 */
#ifndef TPROF_BASE_ARENA_H
#define TPROF_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct tpa_arena;

struct tpa_arena *tpa_arena_new(void);
void tpa_arena_free(struct tpa_arena *arena);

/* Zeroed memory of `size` bytes, aligned for any type. */
void *tpa_arena_alloc(struct tpa_arena *arena, size_t size);

/* The one copy of `text`; NULL if `text` is NULL. */
const char *tpa_arena_intern(struct tpa_arena *arena, const char *text);

#endif
