/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps functions of its own a second time from its file, as V8 does with its builtins, and calls them there: one, then
 * another at the same place, then the bytes of the first with no file behind them. Then files that are mapped to be read, and
 * may be run afterwards: its own, a copy of the function in a file that is no program, and one in a file that is gone by
 * then. At last a forked child calls one.
 * Each call allocates a block of a size of its own.
 */
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define CODE (PROT_READ | PROT_EXEC)
#define APART __attribute__((noinline, aligned(PAGE)))

typedef void *allocator(size_t size);
typedef void *function(allocator *allocate, size_t size);

/* They call nothing but what they are handed, so that they run wherever they lie. */
APART static void *first(allocator *allocate, size_t size)
{
	void *got = allocate(size);

	__asm__ volatile("" : "+r"(got));
	return got;
}

APART static void *second(allocator *allocate, size_t size)
{
	void *got = allocate(size);

	__asm__ volatile("nop" : "+r"(got));
	return got;
}

/* Where in the file a function lies. */
struct place {
	uintptr_t address;
	off_t offset;
};

static int find(struct dl_phdr_info *object, size_t size, void *context)
{
	struct place *place = context;

	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && place->address >= start && place->address < start + header->p_filesz)
			place->offset = (off_t)(header->p_offset + place->address - start);
	}
	return 1; /* the program is the first */
}

static void *map(void *at, function *what, int protection, int more)
{
	struct place place = { .address = (uintptr_t)what };
	FILE *file = fopen("/proc/self/exe", "r");
	void *got;

	dl_iterate_phdr(find, &place);
	got = mmap(at, PAGE, protection, MAP_PRIVATE | more, fileno(file), place.offset);
	fclose(file);
	if (got == MAP_FAILED)
		exit(1);
	return got;
}

/* In the third page of a file. */
static void *write_and_map(const char *name, function *what)
{
	static char zeros[2 * PAGE];
	FILE *file = fopen(name, "w+");
	void *got;

	if (!file || fwrite(zeros, sizeof(zeros), 1, file) != 1 ||
	    fwrite((void *)(uintptr_t)what, PAGE, 1, file) != 1 || fflush(file) != 0)
		exit(1);
	got = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
	fclose(file);
	if (got == MAP_FAILED)
		exit(1);
	return (char *)got + sizeof(zeros);
}

static void *runs(void *there)
{
	for (int i = 0; i < 3; i++)
		if (mprotect(there, PAGE, CODE) != 0 || mprotect(there, PAGE, PROT_READ) != 0)
			exit(1);
	if (mprotect(there, PAGE, CODE) != 0 || mprotect((char *)there + 1, PAGE, CODE) == 0)
		exit(1);
	return there;
}

static void call(void *there, size_t size)
{
	static void *volatile kept;

	kept = ((function *)(uintptr_t)there)(malloc, size);
	*(volatile char *)kept = 0;
}

int main(void)
{
	void *at = map(NULL, first, CODE, 0), *other = map(NULL, second, CODE, 0);
	pid_t child;

	call(at, 1001);
	at = map(at, second, CODE, MAP_FIXED);
	call(at, 1002);
	munmap(at, PAGE);
	at = mmap(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(at, (void *)(uintptr_t)first, PAGE);
	call(at, 1003);
	call(other, 1004);
	call(map(at, first, CODE, MAP_FIXED), 1005);
	call(runs(map(NULL, second, PROT_READ, 0)), 1007);
	call(runs(write_and_map("remapped.code", first)), 1008);
	at = write_and_map("remapped.gone", first);
	unlink("remapped.gone");
	call(runs(at), 1009);
	child = fork();
	if (child == 0) {
		call(other, 1006);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}
