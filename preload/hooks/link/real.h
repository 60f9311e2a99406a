/* SPDX-License-Identifier: Apache-2.0 */
/* The real functions behind the hooks: the next definitions in the process's lookup order. */
#ifndef TPROF_LINK_REAL_H
#define TPROF_LINK_REAL_H

#include "core/base.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/types.h>
#include <threads.h>

struct tpc_real {
	/* The functions that are called most, in one cache line. */
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	bool chunk_sizes;	  /* malloc is glibc's, with a block's size in the word before it */
	size_t (*usable)(void *); /* malloc_usable_size, if it is in the same object as malloc; else NULL */

	void (*first_free)(void *); /* see hooks/memory/reached.h */

	void *(*reallocarray)(void *, size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void (*cfree)(void *);
	void (*free_sized)(void *, size_t);
	void (*free_aligned_sized)(void *, size_t, size_t);
	size_t (*malloc_usable_size)(void *);

	void *(*mallocx)(size_t, int); /* jemalloc's own; NULL without jemalloc */
	void *(*rallocx)(void *, size_t, int);
	size_t (*xallocx)(void *, size_t, size_t, int);
	void (*dallocx)(void *, int);
	void (*sdallocx)(void *, size_t, int);

	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mmap64)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*mprotect)(void *, size_t, int);
	void *(*sbrk)(intptr_t);
	int (*brk)(void *);

	int (*sigaction)(int, const struct sigaction *, struct sigaction *);
	int (*sigaltstack)(const stack_t *, stack_t *);
	__sighandler_t (*signal)(int, __sighandler_t);
	__sighandler_t (*sysv_signal)(int, __sighandler_t);
	__sighandler_t (*sigset)(int, __sighandler_t);
	int (*sigignore)(int);
	int (*sighold)(int);
	int (*sigrelse)(int);
	int (*sigprocmask)(int, const sigset_t *, sigset_t *);
	int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
	int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	int (*thrd_create)(thrd_t *, thrd_start_t, void *);
	int (*pthread_setname_np)(pthread_t, const char *);

	void *(*dlopen)(const char *, int);
	void *(*dlmopen)(long, const char *, int);
	void *(*dlsym)(void *, const char *);
	void *(*dlvsym)(void *, const char *, const char *);
	int (*dladdr)(const void *, Dl_info *);
	int (*dladdr1)(const void *, Dl_info *, void **, int);
	int (*dlclose)(void *);
	int (*prctl)(int, ...);
	long (*syscall)(long, ...);
	int (*execve)(const char *, char *const *, char *const *);
	int (*execveat)(int, const char *, char *const *, char *const *, int);
	int (*execvpe)(const char *, char *const *, char *const *);
	int (*fexecve)(int, char *const *, char *const *);
	int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
			   char *const *, char *const *);
	int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
			    char *const *, char *const *);
	int (*chroot)(const char *);
	int (*setuid)(uid_t);
	int (*seteuid)(uid_t);
	int (*setreuid)(uid_t, uid_t);
	int (*setresuid)(uid_t, uid_t, uid_t);
	int (*setgid)(gid_t);
	int (*setegid)(gid_t);
	int (*setregid)(gid_t, gid_t);
	int (*setresgid)(gid_t, gid_t, gid_t);
	int (*setgroups)(size_t, const gid_t *);
	int (*system)(const char *);
	FILE *(*popen)(const char *, const char *);
	void (*_exit)(int);
	void (*_Exit)(int);
	void (*quick_exit)(int);
	void (*abort)(void);

	void (*__cyg_profile_func_enter)(void *, void *); /* libc's, which do nothing, or a tracer's */
	void (*__cyg_profile_func_exit)(void *, void *);
} __attribute__((aligned(64)));

extern struct tpc_real tpc_real TPC_NEAR;

/* Looks up all of them. Meanwhile the bootstrap arena serves calls. */
void tpc_real_find(void);

/*
 * Finds the object that contains the real malloc, and returns its path; to be called again when all objects are
 * relocated.
 */
const char *tpc_real_find_allocator(void);

/* Is the address in the code of the allocator behind the hooks, if that is not libc's? Its own mmap calls are no events. */
bool tpc_real_is_allocator(uintptr_t pc);
struct tpc_range tpc_real_allocator(void);

/*
 * The bootstrap arena: memory for the time before the real malloc is known. Its blocks are never freed;
 * tpc_bootstrap_holds() recognizes them when the program frees or grows one.
 */
void *tpc_bootstrap_take(size_t alignment, size_t size);
size_t tpc_bootstrap_size(const void *p);
extern char tpc_bootstrap_arena[] TPC_NEAR;
#define TPC_BOOTSTRAP_BYTES (256u * 1024u)

static inline bool tpc_bootstrap_holds(const void *p)
{
	return tpc_unlikely((uintptr_t)p - (uintptr_t)tpc_bootstrap_arena < TPC_BOOTSTRAP_BYTES);
}

#endif
