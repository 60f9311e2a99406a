/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of moved code: memory where it can be executed, and a call with known registers. */
#ifndef TPROF_TESTS_CODE_EXECUTION_H
#define TPROF_TESTS_CODE_EXECUTION_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/x86_64/code_move.h"

#define AREA 65536u

static struct tpc_code_decoder decoder;

static void *find_in(void *library, const char *name)
{
	return dlsym(library, name);
}

static int load_decoder(void **state)
{
	void *library = dlopen(tpc_code_decoder_library, RTLD_NOW | RTLD_LOCAL);

	(void)state;
	return library && tpc_code_decoder_set(&decoder, find_in, library) ? 0 : -1;
}

/* Memory that is writable and executable, near to what this program refers to. */
static uint8_t *executable(void)
{
	static uint8_t page;
	static uintptr_t areas;
	uintptr_t hint = ((uintptr_t)&page & ~UINT64_C(4095)) - (UINT64_C(64) << 20) - areas++ * AREA;
	void *area = mmap((void *)hint, AREA, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		abort();
	memset(area, 0xcc, AREA);
	return area;
}

/* rax, rcx, rdx, rsi, rdi, r8 to r11, and the flags. */
#define REGISTERS 10

/* Calls that code, which may change these, and no other. */
static inline void call_with(const void *code, uint64_t registers[REGISTERS])
{
	/* %rbx is the array: the code preserves it. The stack below is left to it. */
	__asm__ volatile("subq $256, %%rsp\n\t"
			 "pushq %%rbx\n\tpushq %%r12\n\t"
			 "pushq %0\n\tmovq %1, %%r12\n\tpopq %%rbx\n\t"
			 "pushq 72(%%rbx)\n\tpopfq\n\t"
			 "movq (%%rbx), %%rax\n\tmovq 8(%%rbx), %%rcx\n\tmovq 16(%%rbx), %%rdx\n\t"
			 "movq 24(%%rbx), %%rsi\n\tmovq 32(%%rbx), %%rdi\n\tmovq 40(%%rbx), %%r8\n\t"
			 "movq 48(%%rbx), %%r9\n\tmovq 56(%%rbx), %%r10\n\tmovq 64(%%rbx), %%r11\n\t"
			 "call *%%r12\n\t"
			 "movq %%rax, (%%rbx)\n\tmovq %%rcx, 8(%%rbx)\n\tmovq %%rdx, 16(%%rbx)\n\t"
			 "movq %%rsi, 24(%%rbx)\n\tmovq %%rdi, 32(%%rbx)\n\tmovq %%r8, 40(%%rbx)\n\t"
			 "movq %%r9, 48(%%rbx)\n\tmovq %%r10, 56(%%rbx)\n\tmovq %%r11, 64(%%rbx)\n\t"
			 "pushfq\n\tpopq 72(%%rbx)\n\t"
			 "popq %%r12\n\tpopq %%rbx\n\taddq $256, %%rsp"
			 :
			 : "r"(registers), "r"(code)
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
}

#endif
