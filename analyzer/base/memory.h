/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that never return NULL. A report that lacks the data that did not fit would be wrong, so the analyzer
 * can't go on: if memory runs out, it prints one line and exits with status 3. All functions are thread-safe; release
 * what they return with free().
 */
#ifndef TPROF_BASE_MEMORY_H
#define TPROF_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Prints "tprof-analyze: out of memory" to stderr and exits with status 3. */
void tpa_no_memory(void) __attribute__((noreturn, cold));

/* Exits like tpa_no_memory() if `done`, the result of a function that fails only for lack of memory, is false. */
static inline void tpa_need(bool done)
{
	if (!done)
		tpa_no_memory();
}

/* Zeroed memory for `count` elements of `size` bytes. */
void *tpa_zalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/*
 * Asks the kernel for pages of 2 MiB behind memory that will be used all over, or from its start onwards: it is looked up with fewer
 * misses. Without effect on less than 8 MiB, or where the kernel has none.
 */
void tpa_large_pages(void *memory, size_t bytes);

/* Like reallocarray(); bytes beyond the old size are not initialized. Never NULL, also for 0 bytes. */
void *tpa_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));

/* A copy of `size` bytes. */
void *tpa_copy(const void *from, size_t size) __attribute__((returns_nonnull));

/* A copy of a text; tpa_strndup() copies its first `length` bytes at most, and terminates the copy. */
char *tpa_strdup(const char *text) __attribute__((returns_nonnull));
char *tpa_strndup(const char *text, size_t length) __attribute__((returns_nonnull));

/* The formatted text, like asprintf(). */
char *tpa_format(const char *format, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

/*
 * Makes room for `need` elements of `size` bytes in the array *list, which has room for *room; grows to double the room, and to more
 * where it is large. */
void tpa_grow(void *list, size_t *room, size_t need, size_t size);

/*
 * Appends an uninitialized element to an array and yields its address. Do not read the array in the expression that
 * is assigned to the element: the array may move.
 */
#define TPA_APPEND(list, count, room)                                                                                  \
	((size_t)(count) < (room) ? (void)0 : tpa_grow(&(list), &(room), (size_t)(count) + 1, sizeof(*(list))),        \
	 &(list)[(count)++])

/* Gives back what the array *list has room for behind its first `count` elements of `size` bytes. */
void tpa_shrink(void *list, size_t count, size_t size);

/* Makes the array `need` elements long, if it is shorter; the new elements are zero. */
void tpa_extend(void *list, size_t *count, size_t *room, size_t need, size_t size);

#endif
