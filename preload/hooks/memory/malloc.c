/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The malloc family. Each hook enters, records a free before the real call, makes the call, and records an allocation
 * after it. If tpc_enter() returns NULL, only the real function is called.
 *
 * The hooks that are called most check the gate first and have no frame until it is open: the rest is a separate
 * function, whose frame is where theirs would be (gcc jumps to it).
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

static TPC_SLOW void *plain_malloc(size_t size)
{
	void *block = tpc_real.malloc && !tpc_load(&tpc_malloc_probing) ? tpc_real.malloc(size)
									: tpc_bootstrap_take(16, size);

	tpc_unrecorded(block != NULL);
	return block;
}

static TPC_SLOW void *plain_calloc(size_t count, size_t size)
{
	void *block = NULL;
	size_t bytes;

	if (tpc_real.calloc)
		block = tpc_real.calloc(count, size);
	else if (!__builtin_mul_overflow(count, size, &bytes))
		block = tpc_bootstrap_take(16, bytes); /* zero: nothing in the arena is used twice */
	tpc_unrecorded(block != NULL);
	return block;
}

static TPC_SLOW void plain_free(void *block)
{
	if (tpc_bootstrap_holds(block) || !tpc_real.free)
		return;
	tpc_unrecorded(1);
	tpc_real.free(block);
}

static TPC_SLOW void *plain_aligned(void *(*real)(size_t, size_t), size_t alignment, size_t size)
{
	void *block = real ? real(alignment, size) : tpc_bootstrap_take(alignment, size);

	tpc_unrecorded(block != NULL);
	return block;
}

static TPC_SLOW int plain_posix_memalign(void **out, size_t alignment, size_t size)
{
	int error;

	if (tpc_real.posix_memalign) {
		error = tpc_real.posix_memalign(out, alignment, size);
	} else {
		*out = tpc_bootstrap_take(alignment, size);
		error = *out ? 0 : ENOMEM;
	}
	tpc_unrecorded(error == 0);
	return error;
}

static TPC_SLOW void *plain_pages(void *(*real)(size_t), size_t size)
{
	void *block = real ? real(size) : tpc_bootstrap_take(TPC_PAGE, size);

	tpc_unrecorded(block != NULL);
	return block;
}

/* A block of the arena that grows moves out; the old one stays unchanged. */
static TPC_SLOW void *leave_arena(void *old, size_t size)
{
	size_t had = tpc_bootstrap_size(old);
	void *block = malloc(size);

	if (block)
		memcpy(block, old, had < size ? had : size);
	return block;
}

static TPC_SLOW void *plain_realloc(void *old, size_t size)
{
	void *block = tpc_real.realloc ? tpc_real.realloc(old, size) : tpc_bootstrap_take(16, size);

	if (block || size == 0)
		tpc_unrecorded((old ? 1u : 0u) + (block ? 1u : 0u));
	return block;
}

/* ---- allocation ---- */

static TPC_SLOW void *slow_malloc(const void *frame, size_t size)
{
	struct tpc_thread *thread = tpc_enter_slow(frame);
	void *block;

	if (!thread)
		return plain_malloc(size);
	block = tpc_real.malloc(size);
	if (block)
		tpc_record_alloc(thread, frame, block, (struct tpc_request){ size, TPROF_FN_MALLOC, 0 });
	tpc_leave(thread);
	return block;
}

static TPC_APART void *open_malloc(size_t size)
{
	struct tpc_thread *thread = tpc_self;

	if (tpc_is_open(thread)) {
		if (tpc_likely(tpc_enters(thread, FRAME)))
			return tpc_record_malloc(thread, FRAME, size, TPROF_FN_MALLOC);
		if (tpc_sample_passes(thread, FRAME, size))
			return tpc_real.malloc(size);
	}
	return slow_malloc(FRAME, size);
}

TPC_EXPORT void *malloc(size_t size)
{
	if (tpc_unlikely(tpc_gate()))
		return tpc_real.malloc(size);
	return open_malloc(size);
}

static TPC_SLOW void *slow_calloc(const void *frame, size_t count, size_t size)
{
	struct tpc_thread *thread = tpc_enter_slow(frame);
	void *block;

	if (!thread)
		return plain_calloc(count, size);
	block = tpc_real.calloc(count, size);
	if (block)
		tpc_record_alloc(thread, frame, block, (struct tpc_request){ count * size, TPROF_FN_CALLOC, 0 });
	tpc_leave(thread);
	return block;
}

static TPC_APART void *open_calloc(size_t count, size_t size)
{
	struct tpc_thread *thread = tpc_self;

	if (tpc_is_open(thread)) {
		if (tpc_likely(tpc_enters(thread, FRAME)))
			return tpc_allocated(thread, FRAME, tpc_real.calloc(count, size), count * size,
					     TPROF_FN_CALLOC);
		/* An allocation that fails has taken its part of the distance; the rest is random all the same. */
		if (tpc_sample_passes(thread, FRAME, count * size))
			return tpc_real.calloc(count, size);
	}
	return slow_calloc(FRAME, count, size);
}

TPC_EXPORT void *calloc(size_t count, size_t size)
{
	if (tpc_unlikely(tpc_gate()))
		return tpc_real.calloc(count, size);
	return open_calloc(count, size);
}

/* `real` points to the real function, which is not known at the process's very first call until that has entered. */
static inline void *aligned(const void *frame, void *(**real)(size_t, size_t), size_t alignment, size_t size,
			    uint8_t fn)
{
	struct tpc_thread *thread = tpc_unlikely(tpc_gate()) ? NULL : tpc_enter(frame);
	void *block;

	if (tpc_unlikely(!thread))
		return plain_aligned(*real, alignment, size);
	block = (*real)(alignment, size);
	if (tpc_likely(block))
		tpc_record_alloc(thread, frame, block, (struct tpc_request){ size, fn, tpc_log2(alignment) });
	tpc_leave(thread);
	return block;
}

TPC_EXPORT void *memalign(size_t alignment, size_t size)
{
	return aligned(FRAME, &tpc_real.memalign, alignment, size, TPROF_FN_MEMALIGN);
}

TPC_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return aligned(FRAME, &tpc_real.aligned_alloc, alignment, size, TPROF_FN_ALIGNED_ALLOC);
}

static TPC_SLOW int slow_posix_memalign(const void *frame, void **out, size_t alignment, size_t size)
{
	struct tpc_thread *thread = tpc_enter_slow(frame);
	int error;

	if (!thread)
		return plain_posix_memalign(out, alignment, size);
	error = tpc_real.posix_memalign(out, alignment, size);
	if (error == 0 && *out)
		tpc_record_alloc(thread, frame, *out,
				 (struct tpc_request){ size, TPROF_FN_POSIX_MEMALIGN, tpc_log2(alignment) });
	tpc_leave(thread);
	return error;
}

static TPC_APART int open_posix_memalign(void **out, size_t alignment, size_t size)
{
	struct tpc_thread *thread = tpc_self;
	int error;

	if (tpc_unlikely(!tpc_is_open(thread) || !tpc_enters(thread, FRAME)))
		return slow_posix_memalign(FRAME, out, alignment, size);
	error = tpc_real.posix_memalign(out, alignment, size);
	tpc_allocated(thread, FRAME, error ? NULL : *out, size,
		      TPROF_FN_POSIX_MEMALIGN | (uint32_t)tpc_log2(alignment) << 8);
	return error;
}

TPC_EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	if (tpc_unlikely(tpc_gate()))
		return tpc_real.posix_memalign(out, alignment, size);
	return open_posix_memalign(out, alignment, size);
}

static inline void *whole_pages(const void *frame, void *(**real)(size_t), size_t size, uint8_t fn)
{
	struct tpc_thread *thread = tpc_unlikely(tpc_gate()) ? NULL : tpc_enter(frame);
	void *block;

	if (tpc_unlikely(!thread))
		return plain_pages(*real, size);
	block = (*real)(size);
	if (tpc_likely(block))
		tpc_record_alloc(thread, frame, block, (struct tpc_request){ size, fn, tpc_log2(TPC_PAGE) });
	tpc_leave(thread);
	return block;
}

TPC_EXPORT void *valloc(size_t size)
{
	return whole_pages(FRAME, &tpc_real.valloc, size, TPROF_FN_VALLOC);
}

TPC_EXPORT void *pvalloc(size_t size)
{
	return whole_pages(FRAME, &tpc_real.pvalloc, size, TPROF_FN_PVALLOC);
}

/* ---- reallocation: two phases, see format.h ---- */

static TPC_SLOW void *slow_realloc(const void *frame, void *old, size_t size, uint8_t fn)
{
	struct tpc_thread *thread = old ? tpc_enter_end_of(frame, old) : tpc_enter(frame);
	void *block;
	bool freed;

	if (!thread)
		return plain_realloc(old, size);
	freed = old && tpc_record_free(thread, old, fn);
	tpc_paused_free_note_moving(old, freed);
	block = tpc_real.realloc(old, size);
	tpc_paused_free_note_moved(old, freed && size, block);
	tpc_record_moved(thread, frame, old, freed, block, (struct tpc_request){ size, fn, 0 });
	tpc_leave(thread);
	return block;
}

/* The block began in the pause: where it moves is of no interest. */
static inline bool reallocation_passes(const void *old)
{
	uint32_t gate = tpc_gate();

	return tpc_unlikely(gate) && (!old || tpc_paused_free_passes(gate, old));
}

static inline void *reallocate(const void *frame, void *old, size_t size, uint8_t fn)
{
	struct tpc_thread *thread;
	void *block;

	if (tpc_bootstrap_holds(old))
		return leave_arena(old, size);
	if (reallocation_passes(old))
		return tpc_real.realloc(old, size);
	thread = tpc_self;
	if (tpc_unlikely(!tpc_is_open(thread) || !tpc_enters(thread, frame)))
		return slow_realloc(frame, old, size, fn);
	if (old)
		tpc_freeing(thread, old, fn);
	block = tpc_real.realloc(old, size);
	if (tpc_unlikely(!block && old && size))
		tpc_record_cancel(thread, old);
	return tpc_allocated(thread, frame, block, size, fn);
}

TPC_EXPORT void *realloc(void *old, size_t size)
{
	return reallocate(FRAME, old, size, TPROF_FN_REALLOC);
}

TPC_EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (tpc_unlikely(tpc_malloc_is_second()) && tpc_real.reallocarray && !tpc_bootstrap_holds(old))
		return tpc_real.reallocarray(old, count, size);
	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(FRAME, old, bytes, TPROF_FN_REALLOCARRAY);
}

/* ---- release ---- */

static TPC_SLOW void slow_free(const void *frame, void *block, uint8_t fn)
{
	struct tpc_thread *thread = tpc_enter_end_of(frame, block);

	if (!thread || tpc_bootstrap_holds(block)) {
		plain_free(block);
	} else {
		tpc_record_free(thread, block, fn);
		if (tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED)
			tpc_paused_free_note(block);
		tpc_real.free(block);
	}
	if (thread)
		tpc_leave(thread);
}

/* In a pause, and the block was not recorded. NULL goes to the real function, too. */
TPC_HOT bool release_passes(const void *block)
{
	uint32_t gate = tpc_gate();

	return tpc_unlikely(gate) && tpc_paused_free_passes(gate, block) && !tpc_bootstrap_holds(block);
}

TPC_HOT void release(const void *frame, void *block, uint8_t fn)
{
	struct tpc_thread *thread = tpc_self;

	if (!block || tpc_bootstrap_holds(block))
		return;
	if (tpc_is_open(thread)) {
		if (tpc_likely(tpc_enters(thread, frame))) {
			tpc_record_release(thread, block, fn);
			return;
		}
		if (tpc_sample_passes_free(thread, frame, block)) {
			tpc_real.free(block);
			return;
		}
	}
	slow_free(frame, block, fn);
}

static TPC_APART void open_free(void *block)
{
	release(FRAME, block, TPROF_FN_FREE);
}

TPC_EXPORT void free(void *block)
{
	if (release_passes(block))
		tpc_real.free(block);
	else
		open_free(block);
}

/* Other names of free(), which an allocator that precedes us may lack: it must free its own blocks. */
TPC_HOT void release_as(const void *frame, void *block, uint8_t fn)
{
	if (tpc_unlikely(tpc_malloc_is_second()) && !tpc_bootstrap_holds(block))
		tpc_real.first_free(block);
	else
		release(frame, block, fn);
}

void cfree(void *block);

TPC_EXPORT void cfree(void *block)
{
	release_as(FRAME, block, TPROF_FN_CFREE);
}

void free_sized(void *block, size_t size);

/* C23, 7.24.3.4: free() with the size. A libc that has it checks the size; otherwise free() does. */
TPC_EXPORT void free_sized(void *block, size_t size)
{
	(void)size;
	release_as(FRAME, block, TPROF_FN_FREE_SIZED);
}

void free_aligned_sized(void *block, size_t alignment, size_t size);

TPC_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	release_as(FRAME, block, TPROF_FN_FREE_ALIGNED_SIZED);
}

TPC_EXPORT size_t malloc_usable_size(void *block)
{
	if (tpc_bootstrap_holds(block))
		return tpc_bootstrap_size(block);
	return tpc_real.malloc_usable_size ? tpc_real.malloc_usable_size(block) : 0;
}
