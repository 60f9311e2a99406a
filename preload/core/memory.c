/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcpy() and its kin, of this library alone. The compiler calls them by itself, for a loop that copies words as well as for a
 * struct, and libc's use vector registers: on the way through a hooked function that would be the function's arguments.
 * These use general registers only, as all of the library does (scripts/preload.mk). What is small is mostly copied in line.
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
		__asm__ volatile("" : : : "memory"); /* or the compiler knows it for what it is, and calls memmove() */
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
