/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is there or ends the analyzer. A report that lacks what did not fit would be wrong, and nothing in it can be
 * saved by going on: so these functions never return NULL. When memory is out, the analyzer prints one line and exits with
 * status 3. All of them are thread-safe; release what they return with free().
 */
#ifndef TPROF_BASE_MEMORY_H
#define TPROF_BASE_MEMORY_H

#include <stddef.h>

/* Prints "tprof-analyze: out of memory" to stderr and exits with status 3. */
void tp_no_memory(void) __attribute__((noreturn, cold));

/* Zeroed memory for `count` elements of `size` bytes. */
void *tp_zalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* Like reallocarray(); the bytes beyond the old size are not set. Never NULL, also for 0 bytes. */
void *tp_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of `size` bytes. */
void *tp_copy(const void *from, size_t size) __attribute__((returns_nonnull));

/* A copy of a text; tp_strndup: of its first `length` bytes at most, terminated. */
char *tp_strdup(const char *text) __attribute__((returns_nonnull));
char *tp_strndup(const char *text, size_t length) __attribute__((returns_nonnull));

/* The formatted text, as asprintf() has it. */
char *tp_format(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

/* Room for `need` elements of `size` bytes in the array *list, which has room for *room; it grows by doubling. */
void tp_grow(void *list, size_t *room, size_t need, size_t size);

#endif
