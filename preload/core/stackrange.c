/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stackrange.h"

#include "core/maps.h"
#include "core/arguments.h"
#include "core/sys.h"

#include <pthread.h>

#include <sys/uio.h>

extern void *__libc_stack_end;

#define PTHREAD_BYTES 2304 /* of the descriptor that are searched; glibc's is at least as long since 2.17 */
#define STACK_MAX (UINT64_C(1) << 40)
#define MAIN_STACK_GAP (UINT64_C(128) << 20) /* the kernel keeps at least this much free below (mmap_base(), x86) */

uintptr_t tpc_stack_main_end(void)
{
	return (uintptr_t)__libc_stack_end;
}

/*
 * How far the main thread's stack may grow: up to the limit at the program's start. The arguments and the environment,
 * above it, take at most a quarter of that (execve(2)). A later change of the limit has no effect here.
 */
static uint64_t main_stack_room(void)
{
	static uint64_t room;

	if (!room) {
		struct rlimit limit = { 0 };

		room = MAIN_STACK_GAP;
		tpc_syscall(SYS_prlimit64, 0, RLIMIT_STACK, 0, &limit);
		if (limit.rlim_cur / 4 * 3 > room && !tpc_under_valgrind()) /* whose stacks are laid out differently */
			room = limit.rlim_cur < STACK_MAX ? limit.rlim_cur / 4 * 3 : STACK_MAX;
	}
	return room;
}

static struct tpc_range main_stack(void)
{
	/* argc is at the end, so its page is mapped; the frames to walk are below it. */
	uintptr_t high = (tpc_stack_main_end() | (TPC_PAGE - 1)) + 1;

	return (struct tpc_range){ high - main_stack_room(), high };
}

/* The readable mapping around an address; empty if there is none. */
static struct tpc_range mapping_around(uintptr_t address)
{
	char buffer[2048];
	const char *path;

	return tpc_maps_find(address, buffer, sizeof(buffer), &path);
}

/*
 * glibc keeps a thread's descriptor at the top of its stack, and the stack's address and size in two neighbouring words
 * of it (nptl/descr.h: stackblock, stackblock_size). They are recognized by their values: that stack contains both this
 * frame and the descriptor. pthread_getattr_np() would tell the same, but allocates from the program's heap and locks.
 */
struct tpc_range tpc_stack_of_thread(bool is_main)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), self = (uintptr_t)pthread_self();
	const uintptr_t *words = (const uintptr_t *)self;

	if (is_main)
		return main_stack();
	for (size_t i = 0; i + 1 < PTHREAD_BYTES / sizeof(*words); i++) {
		uintptr_t low = words[i], size = words[i + 1];

		if (size < STACK_MAX && low <= here && here < self && self < low + size)
			return (struct tpc_range){ low, low + size };
	}
	return mapping_around(here);
}

/* Reads one byte of each page in one call, which stops at the first page that can't be read. */
uintptr_t tpc_stack_readable(uintptr_t from, uintptr_t high)
{
	struct iovec remote[TPC_STACK_WINDOW / TPC_PAGE];
	char bytes[TPC_LENGTH(remote)];
	struct iovec local = { bytes, sizeof(bytes) };
	uintptr_t page = from & ~(uintptr_t)(TPC_PAGE - 1), end;
	long got;
	size_t count = 0;

	for (; count < TPC_LENGTH(remote) && page + count * TPC_PAGE < high; count++)
		remote[count] = (struct iovec){ (void *)(page + count * TPC_PAGE), 1 };
	got = tpc_syscall6(SYS_process_vm_readv, tpc_sys_getpid(), (long)&local, 1, (long)remote, (long)count, 0);
	end = page + (got > 0 ? (uintptr_t)got : 0) * TPC_PAGE;
	return end < high ? end : high;
}
