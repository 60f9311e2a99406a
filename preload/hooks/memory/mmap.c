/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mmap family: address space that the program takes itself, also by sbrk() and brk(), which libc's malloc does not
 * call by these names. An allocator's own mappings are no events: they back blocks that are.
 */
#include "core/resident.h"
#include "core/sys.h"
#include "core/tables.h"
#include "core/text.h"
#include "hooks/gate/start.h"
#include "hooks/memory/record.h"
#include "hooks/sampling/signals.h"
#include "stacks/mapped.h"

#include <errno.h>
#include <stdarg.h>

#define FRAME __builtin_frame_address(0)
#define CALLER ((uintptr_t)__builtin_return_address(0))

/* Before libc's mmap is known. */
static TPC_SLOW void *plain_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	long got = tpc_syscall6(SYS_mmap, (long)at, (long)length, protection, flags, fd, offset);

	if (!tpc_sys_failed((void *)got))
		return (void *)got;
	errno = (int)-got;
	return MAP_FAILED;
}

static TPC_SLOW int plain_mprotect(void *at, size_t length, int protection)
{
	long got = tpc_syscall(SYS_mprotect, at, length, protection, 0);

	if (got == 0)
		return 0;
	errno = (int)-got;
	return -1;
}

/* Known only once recording has started: this may be the process's first call. */
static inline bool is_wanted(uintptr_t caller)
{
	if (tpc_unlikely(tpc_load(&tpc_state.mode) == TPC_MODE_NEW))
		tpc_start();
	return tpc_config.alloc != TPC_ALLOC_OFF && !tpc_real_is_allocator(caller);
}

static inline struct tpc_thread *enter(const void *frame, uintptr_t caller)
{
	return tpc_likely(!tpc_gate()) && is_wanted(caller) ? tpc_enter(frame) : NULL;
}

/*
 * For calls that take a range away, even in a pause that began later: the range may be part of a recorded one, or of
 * several, so no address shows that it is of no interest.
 */
static inline struct tpc_thread *enter_end(const void *frame, uintptr_t caller)
{
	return tpc_likely(tpc_gate() != TPROF_GATE_ALL) && is_wanted(caller) ? tpc_enter_end(frame) : NULL;
}

/* Shared memory counts as file pages in RSS. */
static void note_map(void *at, size_t length, int flags)
{
	if (flags & MAP_ANONYMOUS && flags & MAP_PRIVATE)
		tpc_resident_map((uintptr_t)at, (uintptr_t)at + length);
	else
		tpc_resident_unmap((uintptr_t)at, (uintptr_t)at + length);
}

static void record_map(struct tpc_thread *thread, const void *frame, struct tpc_map map)
{
	uint64_t ticks = tpc_clock_after();

	tpc_record(thread, ticks);
	map.node = tpc_caller_stack(thread, frame);
	tpc_emit_map(thread, ticks, &map);
	tpc_recorded(thread);
}

/*
 * The thread is not busy during the real calls: they call no hooked functions, and a signal handler's longjmp may leave
 * them.
 *
 * To be called before the real call: the range may be another thread's mapping right after it.
 */
static void record_unmap(struct tpc_thread *thread, void *at, size_t length, bool remap)
{
	uint64_t ticks = tpc_clock_before();

	tpc_record(thread, ticks);
	tpc_emit_unmap(thread, ticks, (uintptr_t)at, length, remap);
	tpc_recorded(thread);
	tpc_leave(thread);
}

static void record_cancel(struct tpc_thread *thread)
{
	uint64_t ticks = tpc_clock_after();

	tpc_record(thread, ticks);
	tpc_emit_cancel(thread, ticks);
}

/* Compilers at run time that write names for perf (jit-PID.dump) map that file executable once, to tell where it is. */
static void note_jitdump(int fd)
{
	char link[32], path[TPC_TABLE_TEXT_MAX];
	struct tpc_text text = tpc_text_in(link, sizeof(link));
	long length;

	tpc_text_add(&text, "/proc/self/fd/");
	tpc_text_add_number(&text, (uint64_t)fd);
	length = tpc_sys_readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
	if (tpc_text_glob("jit-*.dump", tpc_text_base(path)))
		tpc_table_jitdump(path, (size_t)length);
}

/* Few files are mapped executable here: the loader's own mappings do not pass this hook. */
static TPC_SLOW void note_code(const void *frame, const void *at, size_t length, int fd, off_t offset)
{
	struct tpc_thread *thread = tpc_header ? tpc_enter_end(frame) : NULL; /* in a pause too */

	if (!thread)
		return;
	note_jitdump(fd);
	tpc_mapped_add((uintptr_t)at, (uintptr_t)at + length, fd, (uint64_t)offset);
	tpc_leave(thread);
}

static TPC_SLOW void note_runs(const void *frame, const void *at, size_t length)
{
	struct tpc_thread *thread = tpc_header ? tpc_enter_end(frame) : NULL;

	if (!thread)
		return;
	tpc_mapped_runs((uintptr_t)at, (uintptr_t)at + length);
	tpc_leave(thread);
}

static TPC_SLOW void note_gone(const void *frame, const void *at, size_t length)
{
	struct tpc_thread *thread = tpc_enter_end(frame);

	if (!thread)
		return;
	tpc_mapped_remove((uintptr_t)at, (uintptr_t)at + length);
	tpc_leave(thread);
}

/* To be called before a call that takes the range away. */
static inline void forget_code(const void *frame, const void *at, size_t length)
{
	if (tpc_unlikely(tpc_load(&tpc_mapped_count)))
		note_gone(frame, at, length);
}

static inline void *map(const void *frame, uintptr_t caller, void *(*real)(void *, size_t, int, int, int, off_t),
			void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	struct tpc_thread *thread = enter(frame, caller);
	void *got;

	if (!real)
		real = plain_mmap;
	if (thread)
		tpc_leave(thread);
	if (flags & MAP_FIXED)
		forget_code(frame, at, length);
	got = real(at, length, protection, flags, fd, offset);
	if (fd >= 0 && got != MAP_FAILED && !(flags & MAP_ANONYMOUS)) {
		if (tpc_unlikely(protection & PROT_EXEC))
			note_code(frame, got, length, fd, offset);
		else
			tpc_mapped_file((uintptr_t)got, (uintptr_t)got + length, (uint64_t)offset);
	}
	if (!thread)
		return got;
	if (got != MAP_FAILED) {
		note_map(got, length, flags);
		record_map(thread, frame,
			   (struct tpc_map){ .address = (uintptr_t)got,
					     .length = length,
					     .protection = (uint64_t)protection,
					     .flags = (uint32_t)flags });
	}
	tpc_leave(thread);
	return got;
}

TPC_EXPORT void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map(FRAME, CALLER, tpc_real.mmap, at, length, protection, flags, fd, offset);
}

TPC_EXPORT void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map(FRAME, CALLER, tpc_real.mmap64, at, length, protection, flags, fd, offset);
}

TPC_EXPORT int munmap(void *at, size_t length)
{
	struct tpc_thread *thread;
	bool private = false;
	int result;

	tpc_cpu_unmapped(at, length);
	forget_code(FRAME, at, length);
	thread = enter_end(FRAME, CALLER);
	if (thread) {
		record_unmap(thread, at, length, false);
		private = tpc_resident_unmap((uintptr_t)at, (uintptr_t)at + length);
	}
	result = tpc_real.munmap ? tpc_real.munmap(at, length) : tpc_sys_munmap(at, length);
	if (!thread)
		return result;
	if (result != 0)
		record_cancel(thread);
	if (result != 0 && private)
		tpc_resident_map((uintptr_t)at, (uintptr_t)at + length);
	tpc_leave(thread);
	return result;
}

TPC_EXPORT void *mremap(void *at, size_t old_length, size_t length, int flags, ...)
{
	struct tpc_thread *thread;
	bool private = false;
	void *target, *got;
	va_list more;

	forget_code(FRAME, at, old_length);
	thread = enter_end(FRAME, CALLER);
	va_start(more, flags);
	target = va_arg(more, void *); /* present only with MREMAP_FIXED; passing another value is harmless */
	va_end(more);
	if (thread) {
		record_unmap(thread, at, old_length, true);
		private = tpc_resident_unmap((uintptr_t)at, (uintptr_t)at + old_length);
	}
	got = tpc_real.mremap(at, old_length, length, flags, target);
	if (!thread)
		return got;
	if (private && got == MAP_FAILED)
		tpc_resident_map((uintptr_t)at, (uintptr_t)at + old_length);
	else if (private)
		tpc_resident_map((uintptr_t)got, (uintptr_t)got + length);
	if (got == MAP_FAILED)
		record_cancel(thread);
	else
		record_map(thread, FRAME,
			   (struct tpc_map){ .address = (uintptr_t)got,
					     .length = length,
					     .protection = PROT_READ | PROT_WRITE,
					     .flags = MAP_PRIVATE | MAP_ANONYMOUS | TPROF_MAP_REMAP });
	tpc_leave(thread);
	return got;
}

/*
 * No event, because the mapping stays. Compilers call it for each piece of code that they generate; few of these are in
 * files.
 */
TPC_EXPORT int mprotect(void *at, size_t length, int protection)
{
	int result =
		tpc_real.mprotect ? tpc_real.mprotect(at, length, protection) : plain_mprotect(at, length, protection);

	if (tpc_unlikely(protection & PROT_EXEC) && result == 0 &&
	    tpc_unlikely(tpc_mapped_is_file((uintptr_t)at, (uintptr_t)at + length)))
		note_runs(FRAME, at, length);
	return result;
}

/* ---- the program break ---- */

/* Whole pages: a page belongs to what was first on it. */
static void record_break(struct tpc_thread *thread, const void *frame, uintptr_t old, uintptr_t now)
{
	uintptr_t from = tpc_round_up(old, TPC_PAGE), to = tpc_round_up(now, TPC_PAGE);

	if (to > from) {
		tpc_resident_map(from, to);
		record_map(thread, frame,
			   (struct tpc_map){ .address = from,
					     .length = to - from,
					     .protection = PROT_READ | PROT_WRITE,
					     .flags = MAP_PRIVATE | MAP_ANONYMOUS });
	} else if (to < from) {
		tpc_resident_unmap(to, from);
		tpc_record(thread, tpc_clock_before());
		tpc_emit_unmap(thread, thread->event_start, to, from - to, false);
		tpc_recorded(thread);
	}
}

/* If another thread moves the break meanwhile, the record is wrong: sbrk() is not made for threads. */
TPC_EXPORT void *sbrk(intptr_t increment)
{
	struct tpc_thread *thread = !increment ? NULL : increment > 0 ? enter(FRAME, CALLER) : enter_end(FRAME, CALLER);
	void *old;

	if (!tpc_real.sbrk)
		tpc_start();
	old = tpc_real.sbrk ? tpc_real.sbrk(increment) : MAP_FAILED;
	if (!thread)
		return old;
	if (old != MAP_FAILED) /* which is (void *)-1, as for sbrk() */
		record_break(thread, FRAME, (uintptr_t)old, (uintptr_t)old + (uintptr_t)increment);
	tpc_leave(thread);
	return old;
}

TPC_EXPORT int brk(void *address)
{
	struct tpc_thread *thread = enter_end(FRAME, CALLER);
	uintptr_t old;
	int result;

	if (!tpc_real.brk)
		tpc_start();
	old = thread ? (uintptr_t)tpc_real.sbrk(0) : 0;
	result = tpc_real.brk(address);
	if (!thread)
		return result;
	if (result == 0)
		record_break(thread, FRAME, old, (uintptr_t)address);
	tpc_leave(thread);
	return result;
}
