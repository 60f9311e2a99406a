/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What anything costs that stands between a program and its malloc and looks at the result: a library to preload whose two
 * hooks call libc's, and do nothing else. On deep stacks that is more than it seems: the processor keeps some 32 return
 * addresses, and what calls deeper loses more of them.
 */
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

void *malloc(size_t size);
void free(void *block);

void *malloc(size_t size)
{
	void *block = __libc_malloc(size);

	__asm__ volatile("" : "+r"(block)); /* no jump */
	return block;
}

void free(void *block)
{
	__libc_free(block);
	__asm__ volatile("");
}
