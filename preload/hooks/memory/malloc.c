/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The malloc family. Each hook: enter, record a release before the real call, make the call, record an allocation after
 * it. Where tp_enter() says no, the real function is called and that is all.
 *
 * Those that are called most look at the gate before all else, and have no frame until it is open: what is behind it is a
 * function of its own, whose frame is where theirs were (gcc jumps to it).
 */
#include "hooks/gate/control.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/memory/reached.h"
#include "hooks/memory/record.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define FRAME __builtin_frame_address(0)

/* ---- not recorded: before the real functions are known, in a busy thread, recording off ---- */

static TP_SLOW void *plain_malloc(size_t size)
{
	void *block = tp_real.malloc && !tp_malloc_probing ? tp_real.malloc(size) : tp_bootstrap_take(16, size);

	tp_unrecorded(block != NULL);
	return block;
}

static TP_SLOW void *plain_calloc(size_t count, size_t size)
{
	void *block = NULL;
	size_t bytes;

	if (tp_real.calloc)
		block = tp_real.calloc(count, size);
	else if (!__builtin_mul_overflow(count, size, &bytes))
		block = tp_bootstrap_take(16, bytes); /* zero: nothing in the arena is used twice */
	tp_unrecorded(block != NULL);
	return block;
}

static TP_SLOW void plain_free(void *block)
{
	if (tp_bootstrap_holds(block) || !tp_real.free)
		return;
	tp_unrecorded(1);
	tp_real.free(block);
}

static TP_SLOW void *plain_aligned(void *(*real)(size_t, size_t), size_t alignment, size_t size)
{
	void *block = real ? real(alignment, size) : tp_bootstrap_take(alignment, size);

	tp_unrecorded(block != NULL);
	return block;
}

static TP_SLOW int plain_posix_memalign(void **out, size_t alignment, size_t size)
{
	int error;

	if (tp_real.posix_memalign) {
		error = tp_real.posix_memalign(out, alignment, size);
	} else {
		*out = tp_bootstrap_take(alignment, size);
		error = *out ? 0 : ENOMEM;
	}
	tp_unrecorded(error == 0);
	return error;
}

static TP_SLOW void *plain_pages(void *(*real)(size_t), size_t size)
{
	void *block = real ? real(size) : tp_bootstrap_take(TP_PAGE, size);

	tp_unrecorded(block != NULL);
	return block;
}

/* A block of the arena that grows: it moves out, and the old one stays as it is. */
static TP_SLOW void *leave_arena(void *old, size_t size)
{
	size_t had = tp_bootstrap_size(old);
	void *block = malloc(size);

	if (block)
		memcpy(block, old, had < size ? had : size);
	return block;
}

static TP_SLOW void *plain_realloc(void *old, size_t size)
{
	void *block = tp_real.realloc ? tp_real.realloc(old, size) : tp_bootstrap_take(16, size);

	if (block || size == 0)
		tp_unrecorded((old ? 1u : 0u) + (block ? 1u : 0u));
	return block;
}

/* ---- allocation ---- */

static TP_SLOW void *slow_malloc(const void *frame, size_t size)
{
	struct tp_thread *thread = tp_enter_slow(frame);
	void *block;

	if (!thread)
		return plain_malloc(size);
	block = tp_real.malloc(size);
	if (block)
		tp_record_alloc(thread, frame, block, (struct tp_request){ size, TPROF_FN_MALLOC, 0 });
	tp_leave(thread);
	return block;
}

static TP_APART void *open_malloc(size_t size)
{
	struct tp_thread *thread = tp_self;

	if (tp_is_open(thread)) {
		if (tp_likely(tp_enters(thread, FRAME)))
			return tp_record_malloc(thread, FRAME, size, TPROF_FN_MALLOC);
		if (tp_sample_passes(thread, FRAME, size))
			return tp_real.malloc(size);
	}
	return slow_malloc(FRAME, size);
}

TP_EXPORT void *malloc(size_t size)
{
	if (tp_unlikely(tp_gate()))
		return tp_real.malloc(size);
	return open_malloc(size);
}

static TP_SLOW void *slow_calloc(const void *frame, size_t count, size_t size)
{
	struct tp_thread *thread = tp_enter_slow(frame);
	void *block;

	if (!thread)
		return plain_calloc(count, size);
	block = tp_real.calloc(count, size);
	if (block)
		tp_record_alloc(thread, frame, block, (struct tp_request){ count * size, TPROF_FN_CALLOC, 0 });
	tp_leave(thread);
	return block;
}

static TP_APART void *open_calloc(size_t count, size_t size)
{
	struct tp_thread *thread = tp_self;

	if (tp_is_open(thread)) {
		if (tp_likely(tp_enters(thread, FRAME)))
			return tp_allocated(thread, FRAME, tp_real.calloc(count, size), count * size, TPROF_FN_CALLOC);
		/* One that fails has taken its part of the distance: what remains of it is as random. */
		if (tp_sample_passes(thread, FRAME, count * size))
			return tp_real.calloc(count, size);
	}
	return slow_calloc(FRAME, count, size);
}

TP_EXPORT void *calloc(size_t count, size_t size)
{
	if (tp_unlikely(tp_gate()))
		return tp_real.calloc(count, size);
	return open_calloc(count, size);
}

/* `real` is where the real function is kept: the process's very first call finds none there until it has entered. */
static inline void *aligned(const void *frame, void *(**real)(size_t, size_t), size_t alignment, size_t size,
			    uint8_t fn)
{
	struct tp_thread *thread = tp_unlikely(tp_gate()) ? NULL : tp_enter(frame);
	void *block;

	if (tp_unlikely(!thread))
		return plain_aligned(*real, alignment, size);
	block = (*real)(alignment, size);
	if (tp_likely(block))
		tp_record_alloc(thread, frame, block, (struct tp_request){ size, fn, tp_log2(alignment) });
	tp_leave(thread);
	return block;
}

TP_EXPORT void *memalign(size_t alignment, size_t size)
{
	return aligned(FRAME, &tp_real.memalign, alignment, size, TPROF_FN_MEMALIGN);
}

TP_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return aligned(FRAME, &tp_real.aligned_alloc, alignment, size, TPROF_FN_ALIGNED_ALLOC);
}

static TP_SLOW int slow_posix_memalign(const void *frame, void **out, size_t alignment, size_t size)
{
	struct tp_thread *thread = tp_enter_slow(frame);
	int error;

	if (!thread)
		return plain_posix_memalign(out, alignment, size);
	error = tp_real.posix_memalign(out, alignment, size);
	if (error == 0 && *out)
		tp_record_alloc(thread, frame, *out,
				(struct tp_request){ size, TPROF_FN_POSIX_MEMALIGN, tp_log2(alignment) });
	tp_leave(thread);
	return error;
}

static TP_APART int open_posix_memalign(void **out, size_t alignment, size_t size)
{
	struct tp_thread *thread = tp_self;
	int error;

	if (tp_unlikely(!tp_is_open(thread) || !tp_enters(thread, FRAME)))
		return slow_posix_memalign(FRAME, out, alignment, size);
	error = tp_real.posix_memalign(out, alignment, size);
	tp_allocated(thread, FRAME, error ? NULL : *out, size,
		     TPROF_FN_POSIX_MEMALIGN | (uint32_t)tp_log2(alignment) << 8);
	return error;
}

TP_EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	if (tp_unlikely(tp_gate()))
		return tp_real.posix_memalign(out, alignment, size);
	return open_posix_memalign(out, alignment, size);
}

static inline void *whole_pages(const void *frame, void *(**real)(size_t), size_t size, uint8_t fn)
{
	struct tp_thread *thread = tp_unlikely(tp_gate()) ? NULL : tp_enter(frame);
	void *block;

	if (tp_unlikely(!thread))
		return plain_pages(*real, size);
	block = (*real)(size);
	if (tp_likely(block))
		tp_record_alloc(thread, frame, block, (struct tp_request){ size, fn, tp_log2(TP_PAGE) });
	tp_leave(thread);
	return block;
}

TP_EXPORT void *valloc(size_t size)
{
	return whole_pages(FRAME, &tp_real.valloc, size, TPROF_FN_VALLOC);
}

TP_EXPORT void *pvalloc(size_t size)
{
	return whole_pages(FRAME, &tp_real.pvalloc, size, TPROF_FN_PVALLOC);
}

/* ---- reallocation: two phases, see format.h ---- */

static TP_SLOW void *slow_realloc(const void *frame, void *old, size_t size, uint8_t fn)
{
	struct tp_thread *thread = old ? tp_enter_end_of(frame, old) : tp_enter(frame);
	void *block;
	bool freed;

	if (!thread)
		return plain_realloc(old, size);
	freed = old && tp_record_free(thread, old, fn);
	tp_paused_free_note_moving(old, freed);
	block = tp_real.realloc(old, size);
	tp_paused_free_note_moved(old, freed && size, block);
	tp_record_moved(thread, frame, old, freed, block, (struct tp_request){ size, fn, 0 });
	tp_leave(thread);
	return block;
}

/* A block that began in the pause: where it moves to is nobody's business either. */
static inline bool reallocation_passes(const void *old)
{
	uint32_t gate = tp_gate();

	return tp_unlikely(gate) && (!old || tp_paused_free_passes(gate, old));
}

static inline void *reallocate(const void *frame, void *old, size_t size, uint8_t fn)
{
	struct tp_thread *thread;
	void *block;

	if (tp_bootstrap_holds(old))
		return leave_arena(old, size);
	if (reallocation_passes(old))
		return tp_real.realloc(old, size);
	thread = tp_self;
	if (tp_unlikely(!tp_is_open(thread) || !tp_enters(thread, frame)))
		return slow_realloc(frame, old, size, fn);
	if (old)
		tp_freeing(thread, old, fn);
	block = tp_real.realloc(old, size);
	if (tp_unlikely(!block && old && size))
		tp_record_cancel(thread, old);
	return tp_allocated(thread, frame, block, size, fn);
}

TP_EXPORT void *realloc(void *old, size_t size)
{
	return reallocate(FRAME, old, size, TPROF_FN_REALLOC);
}

TP_EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (tp_unlikely(tp_malloc_is_second()) && tp_real.reallocarray && !tp_bootstrap_holds(old))
		return tp_real.reallocarray(old, count, size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(FRAME, old, bytes, TPROF_FN_REALLOCARRAY);
}

/* ---- release ---- */

static TP_SLOW void slow_free(const void *frame, void *block, uint8_t fn)
{
	struct tp_thread *thread = tp_enter_end_of(frame, block);

	if (!thread || tp_bootstrap_holds(block)) {
		plain_free(block);
	} else {
		tp_record_free(thread, block, fn);
		if (tp_load(&tp_state.mode) == TP_MODE_PAUSED)
			tp_paused_free_note(block);
		tp_real.free(block);
	}
	if (thread)
		tp_leave(thread);
}

/* In a pause, of nothing that was recorded. NULL is the real function's, too. */
TP_HOT bool release_passes(const void *block)
{
	uint32_t gate = tp_gate();

	return tp_unlikely(gate) && tp_paused_free_passes(gate, block) && !tp_bootstrap_holds(block);
}

TP_HOT void release(const void *frame, void *block, uint8_t fn)
{
	struct tp_thread *thread = tp_self;

	if (!block || tp_bootstrap_holds(block))
		return;
	if (tp_is_open(thread)) {
		if (tp_likely(tp_enters(thread, frame))) {
			tp_record_release(thread, block, fn);
			return;
		}
		if (tp_sample_passes_free(thread, frame, block)) {
			tp_real.free(block);
			return;
		}
	}
	slow_free(frame, block, fn);
}

static TP_APART void open_free(void *block)
{
	release(FRAME, block, TPROF_FN_FREE);
}

TP_EXPORT void free(void *block)
{
	if (release_passes(block))
		tp_real.free(block);
	else
		open_free(block);
}

/* Other names of free(), which an allocator may lack that stands before us: its blocks are its own to free. */
TP_HOT void release_as(const void *frame, void *block, uint8_t fn)
{
	if (tp_unlikely(tp_malloc_is_second()) && !tp_bootstrap_holds(block))
		tp_real.first_free(block);
	else
		release(frame, block, fn);
}

void cfree(void *block);

TP_EXPORT void cfree(void *block)
{
	release_as(FRAME, block, TPROF_FN_CFREE);
}

void free_sized(void *block, size_t size);

/* C23, 7.24.3.4: free, told the size. A libc that has it checks the size; where it has not, free serves. */
TP_EXPORT void free_sized(void *block, size_t size)
{
	(void)size;
	release_as(FRAME, block, TPROF_FN_FREE_SIZED);
}

void free_aligned_sized(void *block, size_t alignment, size_t size);

TP_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	release_as(FRAME, block, TPROF_FN_FREE_ALIGNED_SIZED);
}

TP_EXPORT size_t malloc_usable_size(void *block)
{
	if (tp_bootstrap_holds(block))
		return tp_bootstrap_size(block);
	return tp_real.malloc_usable_size ? tp_real.malloc_usable_size(block) : 0;
}
