/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code built with gcc -fsplit-stack begins on a small stack and takes another segment at its end. libgcc keeps the end
 * of the segment in a word of the thread control block that glibc reserves for it. Other code may find as little as 1
 * KiB there.
 */
#ifndef TPROF_STACKS_SPLIT_H
#define TPROF_STACKS_SPLIT_H

#include "core/base.h"

/* The end of the calling thread's segment; 0: it runs no such code, or has not begun to. */
static inline uintptr_t tpc_split_stack_end(void)
{
	uintptr_t end;

	__asm__("movq %%fs:0x70, %0" : "=r"(end));
	return end;
}

#endif
