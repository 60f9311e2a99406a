/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for dl.c, built once for each PLUGIN_NAME. All are of one size and layout, so that one takes the other's
 * address when that was unloaded.
 */
#include <stdlib.h>

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)

void *PASTE(PLUGIN_NAME, _allocate)(size_t size);
void *plugin_allocate(size_t size);

__attribute__((noinline)) void *PASTE(PLUGIN_NAME, _allocate)(size_t size)
{
	void *volatile p = malloc(size);

	return p;
}

void *plugin_allocate(size_t size)
{
	void *volatile p = PASTE(PLUGIN_NAME, _allocate)(size);

	return p;
}
