/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/link/real.h"

#include "core/arguments.h"
#include "core/lookup.h"
#include "core/objects.h"
#include "core/state.h"
#include "core/thread.h"

#include <dlfcn.h>
#include <link.h>

struct tpc_real tpc_real;

#define FUNCTION(name)                                                                                                 \
	{                                                                                                              \
#name, (void **)&tpc_real.name                                                                         \
	}

static const struct {
	const char *name;
	void **to;
} functions[] = {
	FUNCTION(malloc),
	FUNCTION(calloc),
	FUNCTION(free),
	FUNCTION(realloc),
	FUNCTION(malloc_usable_size),
	FUNCTION(memalign),
	FUNCTION(posix_memalign),
	FUNCTION(aligned_alloc),
	FUNCTION(valloc),
	FUNCTION(pvalloc),
	FUNCTION(reallocarray),
	FUNCTION(mmap),
	FUNCTION(mmap64),
	FUNCTION(mprotect),
	FUNCTION(munmap),
	FUNCTION(mremap),
	FUNCTION(sbrk),
	FUNCTION(brk),
	FUNCTION(dlopen),
	FUNCTION(dlmopen),
	FUNCTION(sigaltstack),
	FUNCTION(dlsym),
	FUNCTION(dlvsym),
	FUNCTION(dladdr),
	FUNCTION(dladdr1),
	FUNCTION(prctl),
	FUNCTION(syscall),
	FUNCTION(execve),
	FUNCTION(execveat),
	FUNCTION(execvpe),
	FUNCTION(fexecve),
	FUNCTION(posix_spawn),
	FUNCTION(posix_spawnp),
	FUNCTION(chroot),
	FUNCTION(setuid),
	FUNCTION(seteuid),
	FUNCTION(setreuid),
	FUNCTION(setresuid),
	FUNCTION(setgid),
	FUNCTION(setegid),
	FUNCTION(setregid),
	FUNCTION(setresgid),
	FUNCTION(setgroups),
	FUNCTION(system),
	FUNCTION(popen),
	FUNCTION(dlclose),
	FUNCTION(_exit),
	FUNCTION(_Exit),
	FUNCTION(quick_exit),
	FUNCTION(sigaction),
	FUNCTION(signal),
	FUNCTION(sysv_signal),
	FUNCTION(sigset),
	FUNCTION(sigignore),
	FUNCTION(sighold),
	FUNCTION(sigrelse),
	FUNCTION(sigprocmask),
	FUNCTION(pthread_sigmask),
	FUNCTION(pthread_create),
	FUNCTION(thrd_create),
	FUNCTION(pthread_setname_np),
	FUNCTION(abort),
	FUNCTION(cfree),
	FUNCTION(free_sized),
	FUNCTION(free_aligned_sized),
	FUNCTION(mallocx),
	FUNCTION(rallocx),
	FUNCTION(xallocx),
	FUNCTION(dallocx),
	FUNCTION(sdallocx),
	FUNCTION(__cyg_profile_func_enter),
	FUNCTION(__cyg_profile_func_exit),
};

static uintptr_t allocator_start, allocator_end; /* empty if it is libc's */

const char *tpc_real_find_allocator(void)
{
	struct dl_find_object object;
	Dl_info info;

	if (!dladdr((void *)tpc_real.malloc, &info) || !info.dli_fname)
		return "";
	if (tpc_object_find((uintptr_t)tpc_real.malloc, &object) && !strstr(info.dli_fname, "/libc.so") &&
	    !strstr(info.dli_fname, "/libc-")) {
		allocator_start = (uintptr_t)object.dlfo_map_start;
		allocator_end = (uintptr_t)object.dlfo_map_end;
	}
	return info.dli_fname;
}

bool tpc_real_is_allocator(uintptr_t pc)
{
	return pc - allocator_start < allocator_end - allocator_start;
}

struct tpc_range tpc_real_allocator(void)
{
	return (struct tpc_range){ allocator_start, allocator_end };
}

/* A preloaded malloc may lack the rest of the family: libc's must not be asked about its blocks. */
static bool same_object(void *a, void *b)
{
	struct dl_find_object of_a, of_b;

	return tpc_object_find((uintptr_t)a, &of_a) && tpc_object_find((uintptr_t)b, &of_b) &&
	       of_a.dlfo_link_map == of_b.dlfo_link_map;
}

/* Not if it was told to check blocks: it may then keep words of its own behind them (glibc before 2.34). */
static bool has_chunk_sizes(void)
{
	Dl_info info;

	if (allocator_end || !dladdr((void *)tpc_real.malloc, &info) || !info.dli_fname ||
	    !strstr(info.dli_fname, "/libc"))
		return false;
	for (char *const *at = tpc_environment(); at && *at; at++) {
		if (strncmp(*at, "MALLOC_CHECK_", 13) == 0 || strncmp(*at, "GLIBC_TUNABLES", 14) == 0)
			return false;
	}
	return tpc_lookup_next("gnu_get_libc_version") != NULL;
}

void tpc_real_find(void)
{
	for (size_t i = 0; i < TPC_LENGTH(functions); i++)
		*functions[i].to = tpc_lookup_next(functions[i].name);
	if (!tpc_lookup_is_last() && !same_object(tpc_lookup_first("malloc"), (void *)&tpc_real_find))
		tpc_real.first_free = tpc_lookup_first("free");
	tpc_real_find_allocator();
	if (same_object((void *)tpc_real.malloc, (void *)tpc_real.malloc_usable_size))
		tpc_real.usable = tpc_real.malloc_usable_size;
	tpc_real.chunk_sizes = tpc_real.usable && has_chunk_sizes();
	tpc_thread_may_pass = tpc_real.chunk_sizes;
}

/* ---- bootstrap arena ---- */

char tpc_bootstrap_arena[TPC_BOOTSTRAP_BYTES] __attribute__((aligned(64)));
static tpc_shared_u64 taken;

/* Each block has its size in the 16 bytes in front of it. */
void *tpc_bootstrap_take(size_t alignment, size_t size)
{
	uint64_t bytes = tpc_round_up(size, 16) + 16 + (alignment > 16 ? alignment : 0);
	uint64_t at;
	uintptr_t block;

	if (size > TPC_BOOTSTRAP_BYTES || alignment > TPC_BOOTSTRAP_BYTES)
		return NULL;
	at = tpc_add(&taken, bytes);
	if (at + bytes > TPC_BOOTSTRAP_BYTES)
		return NULL;
	block = (uintptr_t)tpc_bootstrap_arena + at + 16;
	block = tpc_round_up(block, alignment > 16 ? alignment : 16);
	((size_t *)block)[-1] = size;
	return (void *)block;
}

size_t tpc_bootstrap_size(const void *p)
{
	return ((const size_t *)p)[-1];
}
