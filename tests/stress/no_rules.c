/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_rules KERNEL MILLISECONDS: computes in assembly that has no frame rules, as kernels of OpenBLAS are. `near` has a small
 * frame, `far` one larger than the 16 KiB that libunwind follows rbp: their caller can be told by rbp alone. In `strange`
 * rbp is none of a frame: behind it stand numbers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void near_kernel(uint64_t n), far_kernel(uint64_t n), strange_kernel(uint64_t n);

#define KERNEL(name, enter, leave)                                                                                     \
	".globl " name "\n.type " name ", @function\n" name ":\n" enter "\n1: dec %rdi\njnz 1b\n" leave                \
	"\nret\n.size " name ", .-" name "\n"

/* 2.5 and 3.5 as doubles, where a frame would have the caller's rbp and the return address. */
#define NUMBERS                                                                                                        \
	"mov %rbp, %rax\nmovabs $0x400c000000000000, %rdx\npush %rdx\nmovabs $0x4004000000000000, %rdx\npush %rdx\n"   \
	"mov %rsp, %rbp"

__asm__(".text\n");
__asm__(KERNEL("near_kernel", "sub $1024, %rsp", "add $1024, %rsp"));
__asm__(KERNEL("far_kernel", "sub $28672, %rsp", "add $28672, %rsp"));
__asm__(KERNEL("strange_kernel", NUMBERS, "mov %rax, %rbp\nadd $16, %rsp"));

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Its frame pointer is what a kernel's walk goes on from: to the caller of this. */
static __attribute__((noinline)) void computes(void (*kernel)(uint64_t))
{
	kernel(30000);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 2 ? strtoul(argv[2], NULL, 10) : 100) * 1000000u, begin = now_ns();
	const char *name = argc > 1 ? argv[1] : "near";
	void (*kernel)(uint64_t) = strcmp(name, "far") == 0	  ? far_kernel
				   : strcmp(name, "strange") == 0 ? strange_kernel
								  : near_kernel;

	while (now_ns() - begin < wanted)
		computes(kernel);
	puts("no_rules: done");
	return 0;
}
