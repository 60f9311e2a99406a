/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liboracle.so, preloaded behind libtprof.so or alone: counts the malloc family of any program that has one process,
 * what libc itself allocates included. An independent second opinion on what tprof records, and a witness that tprof
 * neither allocates from nor hides anything from the program's allocator.
 *
 * The counts are a struct truth in the file that ORACLE_FILE names, mapped: no end of the process can lose them.
 * One lock serves all; it is a measuring instrument, not a fast one.
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))
enum { TABLE_BITS = 22, GONE = 1 };

struct entry {
	uintptr_t p; /* 0: never used, GONE: freed */
	size_t size;
};

static struct truth *counts, unmapped_counts;
static struct entry *table;
static pid_t owner;
static atomic_flag lock = ATOMIC_FLAG_INIT;

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_memalign)(size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_valloc)(size_t);
static void *(*real_pvalloc)(size_t);
static void (*real_free)(void *);

static void *next(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	if (!p)
		truth_die(name);
	return p;
}

/* dlsym() finds without allocating; only its failure would allocate, and that ends the program. */
static void begin(void)
{
	const char *name = getenv("ORACLE_FILE");
	int fd;

	counts = &unmapped_counts;
	*(void **)&real_malloc = next("malloc");
	*(void **)&real_calloc = next("calloc");
	*(void **)&real_realloc = next("realloc");
	*(void **)&real_memalign = next("memalign");
	*(void **)&real_aligned_alloc = next("aligned_alloc");
	*(void **)&real_posix_memalign = next("posix_memalign");
	*(void **)&real_valloc = next("valloc");
	*(void **)&real_pvalloc = next("pvalloc");
	*(void **)&real_free = next("free");
	owner = getpid();
	table = mmap(NULL, sizeof(*table) << TABLE_BITS, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		truth_die("the oracle's table");
	fd = name ? open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
	if (fd < 0)
		return;
	if (ftruncate(fd, sizeof(*counts)))
		truth_die("the oracle's file");
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		truth_die("the oracle's file");
	close(fd);
}

static struct entry *find(uintptr_t p, int to_insert)
{
	size_t mask = ((size_t)1 << TABLE_BITS) - 1;
	size_t i = (size_t)((p * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TABLE_BITS));

	for (size_t n = 0; n <= mask; n++, i = (i + 1) & mask) {
		if (table[i].p == p || (to_insert && table[i].p == GONE))
			return &table[i];
		if (!table[i].p)
			return to_insert ? &table[i] : NULL;
	}
	truth_die("the oracle's table is full");
	return NULL;
}

static void enter(void)
{
	while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
		sched_yield();
	if (!counts)
		begin();
}

static void leave(void)
{
	atomic_flag_clear_explicit(&lock, memory_order_release);
}

static void *allocated(void *p, size_t size)
{
	struct entry *e;
	int saved = errno;

	if (!p)
		return NULL;
	enter();
	if (getpid() == owner) {
		e = find((uintptr_t)p, 1);
		e->p = (uintptr_t)p;
		e->size = size;
		truth_alloc(counts, size);
	}
	leave();
	errno = saved;
	return p;
}

/* Returns the size of what was freed, so that a failed realloc can take it back. */
static size_t freed(void *p)
{
	struct entry *e;
	size_t size = 0;
	int saved = errno;

	if (!p)
		return 0;
	enter();
	if (getpid() == owner) {
		e = find((uintptr_t)p, 0);
		if (!e) {
			counts->inherited_frees++;
		} else {
			size = e->size;
			truth_free(counts, size);
			e->p = GONE;
		}
	}
	leave();
	errno = saved;
	return size;
}

static void not_freed(void *p, size_t size)
{
	struct entry *e;

	enter();
	e = find((uintptr_t)p, 1);
	e->p = (uintptr_t)p;
	e->size = size;
	counts->frees--;
	counts->live_bytes += size;
	counts->live_blocks++;
	leave();
}

static void ready(void)
{
	if (counts)
		return;
	enter();
	leave();
}

EXPORT void *malloc(size_t size)
{
	ready();
	return allocated(real_malloc(size), size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	ready();
	return allocated(real_calloc(count, size), count * size);
}

EXPORT void *realloc(void *old, size_t size)
{
	size_t old_size;
	void *p;

	ready();
	old_size = freed(old);
	p = real_realloc(old, size);
	if (!p && old && size)
		not_freed(old, old_size);
	return allocated(p, size);
}

EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	ready();
	return allocated(real_memalign(alignment, size), size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	ready();
	return allocated(real_aligned_alloc(alignment, size), size);
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	int error;

	ready();
	error = real_posix_memalign(p, alignment, size);
	if (!error)
		allocated(*p, size);
	return error;
}

EXPORT void *valloc(size_t size)
{
	ready();
	return allocated(real_valloc(size), size);
}

EXPORT void *pvalloc(size_t size)
{
	ready();
	return allocated(real_pvalloc(size), size);
}

EXPORT void free(void *p)
{
	ready();
	freed(p);
	real_free(p);
}

void cfree(void *p); /* no header declares it any more */
EXPORT void cfree(void *p)
{
	free(p);
}
