/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcpy() and similar functions, for this library only. The compiler calls them for loops that copy words and for
 * structs. libc's use vector registers, which hold the arguments of a hooked function while its hook runs. These use
 * general registers only, like all of the library (scripts/preload.mk). Small copies are mostly inlined.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/arch.h"

void *memcpy(void *restrict to, const void *restrict from, size_t count)
{
	tpc_arch_copy(to, from, count);
	return to;
}

void *memmove(void *to, const void *from, size_t count)
{
	unsigned char *at = to;
	const unsigned char *source = from;

	if ((uintptr_t)at - (uintptr_t)source >= count)
		return memcpy(to, from, count);
	while (count-- > 0) {
		at[count] = source[count];
		__asm__ volatile("" : : : "memory"); /* or the compiler recognizes the loop and calls memmove() */
	}
	return to;
}

void *memset(void *to, int byte, size_t count)
{
	tpc_arch_fill(to, byte, count);
	return to;
}

int memcmp(const void *one, const void *other, size_t count)
{
	const unsigned char *a = one, *b = other;

	for (size_t i = 0; i < count; i++) {
		if (a[i] != b[i])
			return a[i] - b[i];
	}
	return 0;
}
