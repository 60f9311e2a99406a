/* SPDX-License-Identifier: Apache-2.0 */
/*
 * by_register MILLISECONDS: computes, and allocates, in frames whose CFA is told by another register than rsp and rbp, or was
 * stored: as the prologues of realigned stacks do it, OpenSSL's assembly, and ld.so's lazy binder, which is made to bind the
 * same function again and again.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern ElfW(Dyn) _DYNAMIC[];

/* Each calls back(n), or only counts to n, and has no use for rbp but to mislead who follows it. */
void by_rbx(uint64_t n, void (*back)(uint64_t)), by_r13(uint64_t n, void (*back)(uint64_t));
void by_r10(uint64_t n), by_rax(uint64_t n), stored(uint64_t n), stored_below(uint64_t n);

#define FUNCTION(name) ".globl " name "\n.type " name ", @function\n" name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", .-" name "\n"
#define MISLEAD "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -16\nlea -8(%rsp), %rbp\n"
#define COUNT "1: dec %rdi\njnz 1b\n"

/* Keeps the entry's stack pointer in a register that survives calls; the stack is realigned below. */
#define SURVIVES(name, reg)                                                                                            \
	FUNCTION(name)                                                                                                 \
	MISLEAD "push %" reg "\n.cfi_adjust_cfa_offset 8\n.cfi_offset %" reg ", -24\n"                                 \
		"mov %rsp, %" reg "\n.cfi_def_cfa_register %" reg "\n"                                                 \
		"sub $200, %rsp\nand $-64, %rsp\ncall *%rsi\n"                                                         \
		"mov %" reg ", %rsp\n.cfi_def_cfa_register %rsp\n"                                                     \
		"pop %" reg "\n.cfi_adjust_cfa_offset -8\n.cfi_restore %" reg "\n"                                     \
		"pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\nret\n" END(name)

/* In one that does not. */
#define TOLD(name, reg)                                                                                                \
	FUNCTION(name)                                                                                                 \
	MISLEAD "mov %rsp, %" reg "\n.cfi_def_cfa_register %" reg "\n"                                                 \
		"sub $200, %rsp\nand $-64, %rsp\n" COUNT "mov %" reg ", %rsp\n.cfi_def_cfa_register %rsp\n"            \
		"pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\nret\n" END(name)

/* DW_CFA_def_cfa_expression, its 5 bytes: DW_OP_breg7 OFFSET (one byte), DW_OP_deref, DW_OP_plus_uconst 16 (with rbp) */
#define CFA_STORED_AT(offset) ".cfi_escape 0x0f, 0x05, 0x77, " offset ", 0x06, 0x23, 0x10\n"

/* Stores it: in its frame, or in the red zone. */
#define STORED(name, at, offset)                                                                                       \
	FUNCTION(name)                                                                                                 \
	MISLEAD "mov %rsp, %rax\n.cfi_def_cfa_register %rax\n"                                                         \
		"sub $200, %rsp\nand $-64, %rsp\n"                                                                     \
		"mov %rax, " at "(%rsp)\n" CFA_STORED_AT(offset) COUNT                                                 \
		"mov " at "(%rsp), %rax\n.cfi_def_cfa %rax, 16\nmov %rax, %rsp\n.cfi_def_cfa_register %rsp\n"          \
		"pop %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore %rbp\nret\n" END(name)

__asm__(".text\n" SURVIVES("by_rbx", "rbx") SURVIVES("by_r13", "r13") TOLD("by_r10", "r10") TOLD("by_rax", "rax")
		STORED("stored", "40", "0x28") STORED("stored_below", "-8", "0x78"));

static volatile uint64_t sum;

static void counts(uint64_t n)
{
	while (n-- > 0)
		sum += n;
}

/* An allocation's walk knows of those registers what functions saved on the way to it: this one saves them. */
static void allocates(uint64_t n)
{
	void *volatile block = malloc(n);

	__asm__ volatile("" ::: "rbx", "r13");

	free(block);
}

static void nested(uint64_t n)
{
	by_r13(n, counts);
	by_rbx(n, allocates);
}

/* ---- the lazy binder ---- */

static uintptr_t *slot_of(const char *name)
{
	const ElfW(Rela) *relocations = NULL;
	const ElfW(Sym) *symbols = NULL;
	const char *names = "";
	uintptr_t base = 0;
	size_t bytes = 0;

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (map->l_ld == _DYNAMIC)
			base = map->l_addr;
	}
	for (const ElfW(Dyn) *at = _DYNAMIC; at->d_tag != DT_NULL; at++) {
		if (at->d_tag == DT_JMPREL)
			relocations = (const void *)at->d_un.d_ptr;
		else if (at->d_tag == DT_SYMTAB)
			symbols = (const void *)at->d_un.d_ptr;
		else if (at->d_tag == DT_STRTAB)
			names = (const void *)at->d_un.d_ptr;
		else if (at->d_tag == DT_PLTRELSZ)
			bytes = at->d_un.d_val;
	}
	for (size_t i = 0; i < bytes / sizeof(*relocations); i++) {
		if (strcmp(names + symbols[ELF64_R_SYM(relocations[i].r_info)].st_name, name) == 0)
			return (uintptr_t *)(base + relocations[i].r_offset);
	}
	abort(); /* built to bind at once */
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t wanted = (argc > 1 ? strtoul(argv[1], NULL, 10) : 100) * 1000000u, begin = now_ns();
	uintptr_t *volatile slot = slot_of("labs"), unbound = *slot;

	while (now_ns() - begin < wanted) {
		by_rbx(2000, counts);
		by_rbx(100, nested);
		by_r13(100, allocates);
		by_r10(3000);
		by_rax(3000);
		stored(3000);
		stored_below(3000);
		for (int i = 0; i < 50; i++) {
			*slot = unbound;
			sum += (uint64_t)labs(-i);
		}
	}
	puts("by_register: done");
	return 0;
}
