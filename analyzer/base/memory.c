/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_no_memory(void)
{
	fputs("tprof-analyze: out of memory\n", stderr);
	exit(3);
}

void *tp_zalloc(size_t count, size_t size)
{
	void *new = calloc(count && size ? count : 1, count && size ? size : 1);

	if (!new)
		tp_no_memory();
	return new;
}

void *tp_resize(void *old, size_t count, size_t size)
{
	void *new = reallocarray(old, count && size ? count : 1, count && size ? size : 1);

	if (!new)
		tp_no_memory();
	return new;
}

void *tp_copy(const void *from, size_t size)
{
	void *new = tp_resize(NULL, size, 1);

	if (size)
		memcpy(new, from, size);
	return new;
}

char *tp_strdup(const char *text)
{
	return tp_copy(text, strlen(text) + 1);
}

char *tp_strndup(const char *text, size_t length)
{
	char *new = strndup(text, length);

	if (!new)
		tp_no_memory();
	return new;
}

char *tp_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		tp_no_memory();
	va_end(arguments);
	return text;
}

void tp_grow(void *list, size_t *room, size_t need, size_t size)
{
	size_t wanted = *room ? *room : 16;
	void *array;

	if (need <= *room)
		return;
	while (wanted < need && wanted <= SIZE_MAX / 2)
		wanted *= 2;
	memcpy(&array, list, sizeof(array));
	array = tp_resize(array, wanted < need ? need : wanted, size);
	memcpy(list, &array, sizeof(array));
	*room = wanted < need ? need : wanted;
}
