/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mmap family: address space that the program takes itself. An allocator's own mappings are no events: they back
 * blocks that are. So is what the program takes by sbrk() and brk(); libc's malloc does not call them by these names.
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

/* Before libc's is known. */
static TP_SLOW void *plain_mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	long got = tp_syscall6(SYS_mmap, (long)at, (long)length, protection, flags, fd, offset);

	if (!tp_sys_failed((void *)got))
		return (void *)got;
	errno = (int)-got;
	return MAP_FAILED;
}

static TP_SLOW int plain_mprotect(void *at, size_t length, int protection)
{
	long got = tp_syscall(SYS_mprotect, at, length, protection, 0);

	if (got == 0)
		return 0;
	errno = (int)-got;
	return -1;
}

/* What is recorded, and what the real functions are, is known once it has started: this may be the process's first call. */
static inline bool is_wanted(uintptr_t caller)
{
	if (tp_unlikely(tp_load(&tp_state.mode) == TP_MODE_NEW))
		tp_start();
	return tp_config.alloc != TP_ALLOC_OFF && !tp_real_is_allocator(caller);
}

static inline struct tp_thread *enter(const void *frame, uintptr_t caller)
{
	return tp_likely(!tp_gate()) && is_wanted(caller) ? tp_enter(frame) : NULL;
}

/*
 * What takes a range away, also in a pause that began later: as it may be part of one that is recorded, or of several, no
 * address says that it is nobody's business.
 */
static inline struct tp_thread *enter_end(const void *frame, uintptr_t caller)
{
	return tp_likely(tp_gate() != TPROF_GATE_ALL) && is_wanted(caller) ? tp_enter_end(frame) : NULL;
}

/* Shared memory is among the files in RSS. */
static void note_map(void *at, size_t length, int flags)
{
	if (flags & MAP_ANONYMOUS && flags & MAP_PRIVATE)
		tp_resident_map((uintptr_t)at, (uintptr_t)at + length);
	else
		tp_resident_unmap((uintptr_t)at, (uintptr_t)at + length);
}

static void record_map(struct tp_thread *thread, const void *frame, struct tp_map map)
{
	uint64_t ticks = tp_clock_after();

	tp_record(thread, ticks);
	map.node = tp_caller_stack(thread, frame);
	tp_emit_map(thread, ticks, &map);
	tp_recorded(thread);
}

/*
 * The thread is not busy during the real calls: they make no others, and may be left by a signal handler's longjmp.
 *
 * Before the real call: the range may be another thread's mapping right after it. */
static void record_unmap(struct tp_thread *thread, void *at, size_t length, bool remap)
{
	uint64_t ticks = tp_clock_before();

	tp_record(thread, ticks);
	tp_emit_unmap(thread, ticks, (uintptr_t)at, length, remap);
	tp_recorded(thread);
	tp_leave(thread);
}

static void record_cancel(struct tp_thread *thread)
{
	uint64_t ticks = tp_clock_after();

	tp_record(thread, ticks);
	tp_emit_cancel(thread, ticks);
}

/*
 * Compilers of code at run time that write down its names for perf (jit-PID.dump) map that file executable, once, to say
 * which it is.
 */
static void note_jitdump(int fd)
{
	char link[32], path[TP_TABLE_TEXT_MAX];
	struct tp_text text = tp_text_in(link, sizeof(link));
	long length;

	tp_text_add(&text, "/proc/self/fd/");
	tp_text_add_number(&text, (uint64_t)fd);
	length = tp_sys_readlink(link, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
	if (tp_text_glob("jit-*.dump", tp_text_base(path)))
		tp_table_jitdump(path, (size_t)length);
}

/* Few files are mapped executable here: the loader's own mappings do not come by. */
static TP_SLOW void note_code(const void *frame, const void *at, size_t length, int fd, off_t offset)
{
	struct tp_thread *thread = tp_header ? tp_enter_end(frame) : NULL; /* in a pause too */

	if (!thread)
		return;
	note_jitdump(fd);
	tp_mapped_add((uintptr_t)at, (uintptr_t)at + length, fd, (uint64_t)offset);
	tp_leave(thread);
}

static TP_SLOW void note_runs(const void *frame, const void *at, size_t length)
{
	struct tp_thread *thread = tp_header ? tp_enter_end(frame) : NULL;

	if (!thread)
		return;
	tp_mapped_runs((uintptr_t)at, (uintptr_t)at + length);
	tp_leave(thread);
}

static TP_SLOW void note_gone(const void *frame, const void *at, size_t length)
{
	struct tp_thread *thread = tp_enter_end(frame);

	if (!thread)
		return;
	tp_mapped_remove((uintptr_t)at, (uintptr_t)at + length);
	tp_leave(thread);
}

/* Before a call that takes the range away. */
static inline void forget_code(const void *frame, const void *at, size_t length)
{
	if (tp_unlikely(tp_load(&tp_mapped_count)))
		note_gone(frame, at, length);
}

static inline void *map(const void *frame, uintptr_t caller, void *(*real)(void *, size_t, int, int, int, off_t),
			void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	struct tp_thread *thread = enter(frame, caller);
	void *got;

	if (!real)
		real = plain_mmap;
	if (thread)
		tp_leave(thread);
	if (flags & MAP_FIXED)
		forget_code(frame, at, length);
	got = real(at, length, protection, flags, fd, offset);
	if (fd >= 0 && got != MAP_FAILED && !(flags & MAP_ANONYMOUS)) {
		if (tp_unlikely(protection & PROT_EXEC))
			note_code(frame, got, length, fd, offset);
		else
			tp_mapped_file((uintptr_t)got, (uintptr_t)got + length, (uint64_t)offset);
	}
	if (!thread)
		return got;
	if (got != MAP_FAILED) {
		note_map(got, length, flags);
		record_map(thread, frame,
			   (struct tp_map){ .address = (uintptr_t)got,
					    .length = length,
					    .protection = (uint64_t)protection,
					    .flags = (uint32_t)flags });
	}
	tp_leave(thread);
	return got;
}

TP_EXPORT void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map(FRAME, CALLER, tp_real.mmap, at, length, protection, flags, fd, offset);
}

TP_EXPORT void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
	return map(FRAME, CALLER, tp_real.mmap64, at, length, protection, flags, fd, offset);
}

TP_EXPORT int munmap(void *at, size_t length)
{
	struct tp_thread *thread;
	bool private = false;
	int result;

	tp_cpu_unmapped(at, length);
	forget_code(FRAME, at, length);
	thread = enter_end(FRAME, CALLER);
	if (thread) {
		record_unmap(thread, at, length, false);
		private = tp_resident_unmap((uintptr_t)at, (uintptr_t)at + length);
	}
	result = tp_real.munmap ? tp_real.munmap(at, length) : tp_sys_munmap(at, length);
	if (!thread)
		return result;
	if (result != 0)
		record_cancel(thread);
	if (result != 0 && private)
		tp_resident_map((uintptr_t)at, (uintptr_t)at + length);
	tp_leave(thread);
	return result;
}

TP_EXPORT void *mremap(void *at, size_t old_length, size_t length, int flags, ...)
{
	struct tp_thread *thread;
	bool private = false;
	void *target, *got;
	va_list more;

	forget_code(FRAME, at, old_length);
	thread = enter_end(FRAME, CALLER);
	va_start(more, flags);
	target = va_arg(more, void *); /* there only with MREMAP_FIXED; passing what lies there else is harmless */
	va_end(more);
	if (thread) {
		record_unmap(thread, at, old_length, true);
		private = tp_resident_unmap((uintptr_t)at, (uintptr_t)at + old_length);
	}
	got = tp_real.mremap(at, old_length, length, flags, target);
	if (!thread)
		return got;
	if (private && got == MAP_FAILED)
		tp_resident_map((uintptr_t)at, (uintptr_t)at + old_length);
	else if (private)
		tp_resident_map((uintptr_t)got, (uintptr_t)got + length);
	if (got == MAP_FAILED)
		record_cancel(thread);
	else
		record_map(thread, FRAME,
			   (struct tp_map){ .address = (uintptr_t)got,
					    .length = length,
					    .protection = PROT_READ | PROT_WRITE,
					    .flags = MAP_PRIVATE | MAP_ANONYMOUS | TPROF_MAP_REMAP });
	tp_leave(thread);
	return got;
}

/* No event: what is mapped stays so. Compilers call it for each piece of code that they make; few of these are files'. */
TP_EXPORT int mprotect(void *at, size_t length, int protection)
{
	int result =
		tp_real.mprotect ? tp_real.mprotect(at, length, protection) : plain_mprotect(at, length, protection);

	if (tp_unlikely(protection & PROT_EXEC) && result == 0 &&
	    tp_unlikely(tp_mapped_is_file((uintptr_t)at, (uintptr_t)at + length)))
		note_runs(FRAME, at, length);
	return result;
}

/* ---- the program break ---- */

/* Whole pages: of what lies on a page together the page is whose it was first. */
static void record_break(struct tp_thread *thread, const void *frame, uintptr_t old, uintptr_t now)
{
	uintptr_t from = tp_round_up(old, TP_PAGE), to = tp_round_up(now, TP_PAGE);

	if (to > from) {
		tp_resident_map(from, to);
		record_map(thread, frame,
			   (struct tp_map){ .address = from,
					    .length = to - from,
					    .protection = PROT_READ | PROT_WRITE,
					    .flags = MAP_PRIVATE | MAP_ANONYMOUS });
	} else if (to < from) {
		tp_resident_unmap(to, from);
		tp_record(thread, tp_clock_before());
		tp_emit_unmap(thread, thread->event_start, to, from - to, false);
		tp_recorded(thread);
	}
}

/* What another thread's break takes meanwhile is told wrongly: sbrk() is not made for threads. */
TP_EXPORT void *sbrk(intptr_t increment)
{
	struct tp_thread *thread = !increment ? NULL : increment > 0 ? enter(FRAME, CALLER) : enter_end(FRAME, CALLER);
	void *old;

	if (!tp_real.sbrk)
		tp_start();
	old = tp_real.sbrk ? tp_real.sbrk(increment) : MAP_FAILED;
	if (!thread)
		return old;
	if (old != MAP_FAILED) /* that is (void *)-1, too */
		record_break(thread, FRAME, (uintptr_t)old, (uintptr_t)old + (uintptr_t)increment);
	tp_leave(thread);
	return old;
}

TP_EXPORT int brk(void *address)
{
	struct tp_thread *thread = enter_end(FRAME, CALLER);
	uintptr_t old;
	int result;

	if (!tp_real.brk)
		tp_start();
	old = thread ? (uintptr_t)tp_real.sbrk(0) : 0;
	result = tp_real.brk(address);
	if (!thread)
		return result;
	if (result == 0)
		record_break(thread, FRAME, old, (uintptr_t)address);
	tp_leave(thread);
	return result;
}
