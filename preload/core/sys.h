/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without libc: they change no errno, are no cancellation points, and use no symbol that a program can
 * interpose. Each returns what the kernel returns: a negative errno on failure.
 */
#ifndef TPROF_CORE_SYS_H
#define TPROF_CORE_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "core/base.h"

#define TPC_HIGH_DESCRIPTOR 1000 /* does not disturb programs that rely on low numbers */

#define tpc_syscall(number, a, b, c, d) tpc_syscall6((number), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline void *tpc_sys_mmap(size_t length, int protection, int flags, int fd, uint64_t offset)
{
	return (void *)tpc_syscall6(SYS_mmap, 0, (long)length, protection, flags, fd, (long)offset);
}

/* Replaces what is mapped there by zeros. */
static inline void *tpc_sys_mmap_zeros(void *place, size_t length)
{
	return (void *)tpc_syscall6(SYS_mmap, (long)place, (long)length, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* The same, by memory that can be mapped at a second address. */
static inline void *tpc_sys_mmap_shared_zeros(void *place, size_t length)
{
	return (void *)tpc_syscall6(SYS_mmap, (long)place, (long)length, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED : 0), -1, 0);
}

/* Maps shared pages at a second address; the first mapping stays. */
static inline void *tpc_sys_mremap_again(void *from, size_t length)
{
	return (void *)tpc_syscall6(SYS_mremap, (long)from, 0, (long)length, MREMAP_MAYMOVE, 0, 0);
}

/* Moves a mapping over another one. */
static inline void *tpc_sys_mremap_to(void *from, size_t length, void *place)
{
	return (void *)tpc_syscall6(SYS_mremap, (long)from, (long)length, (long)length, MREMAP_MAYMOVE | MREMAP_FIXED,
				    (long)place, 0);
}

/* The kernel's error values are the last page of the address space. */
static inline bool tpc_sys_failed(const void *p)
{
	return (uintptr_t)p > (uintptr_t) - (intptr_t)TPC_PAGE;
}

static inline int tpc_sys_munmap(void *p, size_t length)
{
#ifdef __SANITIZE_THREAD__ /* must be told that other memory comes to be there */
	return munmap(p, length);
#else
	return (int)tpc_syscall(SYS_munmap, p, length, 0, 0);
#endif
}

static inline int tpc_sys_madvise(void *p, size_t length, int advice)
{
	return (int)tpc_syscall(SYS_madvise, p, length, advice, 0);
}

static inline int tpc_sys_open(const char *path, int flags, int mode)
{
	return (int)tpc_syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline int tpc_sys_close(int fd)
{
	return (int)tpc_syscall(SYS_close, fd, 0, 0, 0);
}

static inline long tpc_sys_read(int fd, void *buffer, size_t size)
{
	return tpc_syscall(SYS_read, fd, buffer, size, 0);
}

static inline long tpc_sys_write(int fd, const void *buffer, size_t size)
{
	return tpc_syscall(SYS_write, fd, buffer, size, 0);
}

static inline long tpc_sys_pread(int fd, void *buffer, size_t size, uint64_t offset)
{
	return tpc_syscall(SYS_pread64, fd, buffer, size, offset);
}

static inline long tpc_sys_pwrite(int fd, const void *buffer, size_t size, uint64_t offset)
{
	return tpc_syscall(SYS_pwrite64, fd, buffer, size, offset);
}

static inline long tpc_sys_pwritev(int fd, const struct iovec *parts, size_t count, uint64_t offset)
{
	return tpc_syscall6(SYS_pwritev, fd, (long)parts, (long)count, (long)offset, 0, 0);
}

static inline int tpc_sys_fallocate(int fd, uint64_t offset, uint64_t length)
{
	return (int)tpc_syscall(SYS_fallocate, fd, 0, offset, length);
}

static inline int tpc_sys_fstat(int fd, struct stat *status)
{
	return (int)tpc_syscall(SYS_fstat, fd, status, 0, 0);
}

/*
 * Does the descriptor refer to that file? Programs close descriptors that they do not know, and the number is then
 * another file's.
 */
static inline bool tpc_sys_is_file(int fd, dev_t device, ino_t inode)
{
	struct stat status;

	return fd >= 0 && tpc_sys_fstat(fd, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

static inline long tpc_sys_readlink(const char *path, char *buffer, size_t size)
{
	return tpc_syscall(SYS_readlink, path, buffer, size, 0);
}

static inline long tpc_sys_getcwd(char *buffer, size_t size)
{
	return tpc_syscall(SYS_getcwd, buffer, size, 0, 0);
}

static inline int tpc_sys_fcntl(int fd, int command, long argument)
{
	return (int)tpc_syscall(SYS_fcntl, fd, command, argument, 0);
}

static inline uint32_t tpc_sys_getpid(void)
{
	return (uint32_t)tpc_syscall(SYS_getpid, 0, 0, 0, 0);
}

/* Copies memory where a load might fault. False: not all of it can be read. */
static inline bool tpc_sys_copy(void *to, uintptr_t from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)from, bytes };

	return tpc_syscall6(SYS_process_vm_readv, tpc_sys_getpid(), (long)&local, 1, (long)&remote, 1, 0) ==
	       (long)bytes;
}

static inline uint32_t tpc_sys_getppid(void)
{
	return (uint32_t)tpc_syscall(SYS_getppid, 0, 0, 0, 0);
}

static inline uint32_t tpc_sys_gettid(void)
{
	return (uint32_t)tpc_syscall(SYS_gettid, 0, 0, 0, 0);
}

/* Is there a thread `tid` in process `pid`? True if a sandbox forbids the question. */
static inline bool tpc_sys_thread_lives(uint32_t pid, uint32_t tid)
{
	return tpc_syscall(SYS_tgkill, pid, tid, 0, 0) != -ESRCH;
}

/* The soft limit of a resource; RLIM_INFINITY if it is unknown. */
static inline uint64_t tpc_sys_limit(int resource)
{
	struct rlimit limit;

	if (tpc_syscall(SYS_prlimit64, 0, resource, 0, &limit) != 0)
		return RLIM_INFINITY;
	return limit.rlim_cur;
}

#endif
