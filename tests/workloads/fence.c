/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libfence.so: an allocator as people preload one to find overruns. Each block has pages of its own, right behind one
 * that can't be read; nothing is ever reused. It defines malloc, calloc, realloc and free, and no more: libc's
 * malloc_usable_size, asked about one of these blocks, would read what can't be read.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096u

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);

static struct {
	char *at;
	size_t size;
} blocks[1 << 16];
static size_t used;

void *malloc(size_t size)
{
	size_t room = (size + PAGE) / PAGE * PAGE, i = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
	long at = syscall(SYS_mmap, 0, room + 2 * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (i >= sizeof(blocks) / sizeof(blocks[0]) || (at < 0 && at > -4096))
		return NULL;
	blocks[i].at = (char *)at + PAGE;
	blocks[i].size = size;
	syscall(SYS_mprotect, blocks[i].at, room, PROT_READ | PROT_WRITE);
	return blocks[i].at;
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
}

static size_t size_of(const char *block)
{
	size_t i = 0;

	while (blocks[i].at != block)
		i++;
	return blocks[i].size;
}

void *realloc(void *old, size_t size)
{
	void *block = malloc(size);
	size_t had = old ? size_of(old) : 0;

	if (block && old)
		memcpy(block, old, had < size ? had : size);
	return block;
}

void free(void *block)
{
	(void)block;
}
