/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)2 << 20)
#define LARGE ((size_t)1 << 20) /* bytes */

/*
 * For jemalloc: what was this large is given back to the kernel as soon as it is freed, and not only later. Tables that grow leave
 * behind what they had.
 */
extern const char *malloc_conf;
const char *malloc_conf = "oversize_threshold:262144";

void tpa_no_memory(void)
{
	fputs("tprof-analyze: out of memory\n", stderr);
	exit(3);
}

void *tpa_zalloc(size_t count, size_t size)
{
	void *new = calloc(count && size ? count : 1, count && size ? size : 1);

	if (!new)
		tpa_no_memory();
	return new;
}

void tpa_large_pages(void *memory, size_t bytes)
{
	uintptr_t start = ((uintptr_t)memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGE - 1);

	if (bytes >= 4 * PAGE)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void *tpa_resize(void *old, size_t count, size_t size)
{
	void *new = reallocarray(old, count && size ? count : 1, count && size ? size : 1);

	if (!new)
		tpa_no_memory();
	return new;
}

void *tpa_copy(const void *from, size_t size)
{
	void *new = tpa_resize(NULL, size, 1);

	if (size)
		memcpy(new, from, size);
	return new;
}

char *tpa_strdup(const char *text)
{
	return tpa_copy(text, strlen(text) + 1);
}

char *tpa_strndup(const char *text, size_t length)
{
	char *new = strndup(text, length);

	if (!new)
		tpa_no_memory();
	return new;
}

char *tpa_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		tpa_no_memory();
	va_end(arguments);
	return text;
}

/*
 * How many times larger an array becomes. One that is large is copied less often so, and while it is copied, old and new are not
 * both as large as it will be in the end. Pages that are never written cost nothing.
 */
static size_t factor_of(size_t bytes)
{
	return bytes < LARGE ? 2 : 8;
}

void tpa_grow(void *list, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 16;
	void *array;

	if (need <= *room)
		return;
	while (wanted < need && wanted <= SIZE_MAX / 8)
		wanted *= factor_of(wanted * size);
	memcpy(&array, list, sizeof(array));
	array = tpa_resize(array, wanted < need ? need : wanted, size);
	tpa_large_pages(array, wanted * size);
	memcpy(list, &array, sizeof(array));
	*room = wanted < need ? need : wanted;
}

/* Moves the list into zeroed memory, which takes no room before it is used. */
static void move(void *list, size_t count, size_t *room, size_t need, size_t size)
{
	void *old, *new = tpa_zalloc(need, size);

	memcpy(&old, list, sizeof(old));
	if (count)
		memcpy(new, old, count * size);
	free(old);
	memcpy(list, &new, sizeof(new));
	*room = need;
}

void tpa_shrink(void *list, size_t count, size_t size)
{
	void *old;

	memcpy(&old, list, sizeof(old));
	if (!old)
		return;
	old = tpa_resize(old, count, size);
	memcpy(list, &old, sizeof(old));
}

void tpa_extend(void *list, size_t *count, size_t *room, size_t need, size_t size)
{
	char *bytes;

	if (need <= *count)
		return;
	if (need > *room && need / 2 > *count) {
		move(list, *count, room, need, size);
	} else {
		tpa_grow(list, room, need, size);
		memcpy(&bytes, list, sizeof(bytes));
		memset(bytes + *count * size, 0, (need - *count) * size);
	}
	*count = need;
}
