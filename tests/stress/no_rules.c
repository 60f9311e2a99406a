/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_rules MILLISECONDS: computes in assembly that has no frame rules, as kernels of OpenBLAS are: one with a small frame, one
 * with a frame larger than the 16 KiB that libunwind follows rbp. Their callers can be told by rbp alone.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void near_kernel(uint64_t n), far_kernel(uint64_t n);

#define KERNEL(name, bytes)                                                                                            \
	".globl " name "\n.type " name ", @function\n" name ":\n"                                                      \
	"sub $" bytes ", %rsp\n1: dec %rdi\njnz 1b\nadd $" bytes ", %rsp\nret\n.size " name ", .-" name "\n"

__asm__(".text\n" KERNEL("near_kernel", "1024") KERNEL("far_kernel", "28672"));

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Its frame pointer is what a kernel's walk goes on from: to the caller of this. */
static __attribute__((noinline)) void computes(void)
{
	near_kernel(30000);
	far_kernel(30000);
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100) * 1000000u, begin = now_ns();

	while (now_ns() - begin < wanted)
		computes();
	puts("no_rules: done");
	return 0;
}
