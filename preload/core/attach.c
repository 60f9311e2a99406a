/* SPDX-License-Identifier: Apache-2.0 */
#include "core/attach.h"

#include "core/assert.h"
#include "core/chunk.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/fold.h"
#include "core/reclaim.h"
#include "core/ring.h"
#include "core/scope.h"
#include "core/space.h"
#include "core/stackrange.h"
#include "core/state.h"
#include "core/sys.h"

#include <sys/prctl.h>

void (*tpc_thread_attached)(struct tpc_thread *thread);

/*
 * The struct of a thread that has filled this many chunks is moved into one large page: it remembers stacks in no
 * order, and the program's data takes the TLB each time round. Only for a few threads, as each then has 2 MiB; most of
 * it is in use by that time.
 */
#define CHUNKS_MANY 64u
#define LARGE_THREADS 4u

static void count_chunk(struct tpc_thread *thread)
{
	static tpc_shared_u32 large;

	if (++thread->chunks == CHUNKS_MANY && tpc_add(&large, 1u) < LARGE_THREADS)
		tpc_space_gather(thread);
}

static void reset_coding(struct tpc_thread *thread)
{
	thread->address = 0;
	thread->stack = 0;
	thread->delta = 0;
	memset(thread->addresses, 0, sizeof(thread->addresses));
	memset(thread->stacks, 0, sizeof(thread->stacks));
}

/* The name that the kernel knows: it may have changed since the last chunk. */
static void put_name(struct tpc_thread *thread)
{
	char name[16] = "";

	if (thread->named)
		return;
	tpc_syscall(SYS_prctl, PR_GET_NAME, name, 0, 0);
	tpc_emit_name(thread, name, strnlen(name, sizeof(name)));
}

/* In a ring, another thread was about to take the chunk, and has left it. */
static bool was_spared(struct tpc_thread *thread)
{
	uint8_t *limit = thread->chunk ? tpc_chunk_limit(thread->chunk) - TPC_RECORD_MAX : NULL;

	if (thread->limit != TPC_RECLAIM_LIMIT || thread->at >= limit)
		return false;
	thread->limit = limit;
	return true;
}

/*
 * In a ring, a chunk can be freed only once it has ended, and the thread may wait for that. It is forgotten before it is ended:
 * a longjmp may interrupt this.
 */
static void end_chunk(struct tpc_thread *thread)
{
	struct tprof_chunk *old = thread->chunk;

	tpc_fold_close(&thread->fold);
	thread->chunk = NULL;
	thread->at = thread->limit = NULL;
	if (old)
		tpc_chunk_end(old);
}

static struct tpc_thread *begin(struct tpc_thread *thread);

/* In the midst of recording an event. */
static bool begin_anew(struct tpc_thread *thread)
{
	uint32_t busy = thread->busy;
	bool good = begin(thread) != NULL;

	thread->busy = busy;
	return good;
}

bool tpc_thread_new_chunk(struct tpc_thread *thread)
{
	bool had_one = thread->chunk != NULL;
	struct tprof_chunk *chunk, *old;

	if (!thread->number)
		return begin_anew(thread);
	tpc_reclaim_wait(thread);
	if (tpc_fold_unsettled(&thread->fold)) {
		tpc_fold_settle(thread);
		if (thread->at < thread->limit)
			return true;
	}
	if (was_spared(thread))
		return true;
	if (tpc_ring_is_on() && !tpc_state_is_child()) /* the chunk of a child is its parent's */
		end_chunk(thread);
	chunk = tpc_chunk_begin(TPROF_CHUNK_EVENTS, thread->number, tpc_load(&thread->tid), had_one);
	if (!chunk) {
		if (!tpc_ring_is_on() || tpc_load(&tpc_state.mode) == TPC_MODE_STOPPED)
			tpc_lost_stopped(1);
		return false;
	}
	tpc_fold_close(&thread->fold);
	old = thread->chunk;
	thread->chunk = chunk;
	thread->at = tpc_chunk_bytes(chunk);
	thread->limit = tpc_chunk_limit(chunk) - TPC_RECORD_MAX;
	thread->time = chunk->begin.ticks >> tpc_emit_shift;
	reset_coding(thread);
	thread->named = thread->named && had_one;
	put_name(thread);
	if (old)
		tpc_chunk_end(old); /* last: a longjmp may interrupt any of this */
	count_chunk(thread);
	return true;
}

/* Continues the half-filled chunk of a dead thread. */
static void continue_chunk(struct tpc_thread *thread)
{
	uint64_t ticks = tpc_clock_before();

	reset_coding(thread);
	tpc_emit_thread(thread, ticks);
	thread->named = false;
	put_name(thread);
}

static void continue_interrupted(struct tpc_thread *thread)
{
	thread->at = tpc_chunk_bytes(thread->chunk) + tpc_chunk_committed(thread->chunk);
	thread->limit = tpc_chunk_limit(thread->chunk) - TPC_RECORD_MAX;
	if (thread->at < thread->limit)
		continue_chunk(thread);
}

void tpc_thread_recover(struct tpc_thread *thread)
{
	tpc_lost(TPROF_LOST_REENTRANT, 1);
	tpc_reclaim_forbid(thread);
	memset(thread->walk, 0, TPC_WALK_HEAD);
	memset(thread->python, 0, TPC_WALK_HEAD);
	tpc_scope_recover(thread);
	tpc_fold_reset(thread);
	if (thread->chunk)
		continue_interrupted(thread);
	tpc_reclaim_allow(thread);
}

/* Goes on with the chunk of the dead thread that had the struct before, or begins one. */
static bool begin_chunk(struct tpc_thread *thread)
{
	if (!was_spared(thread) && (!thread->chunk || thread->at >= thread->limit))
		return tpc_thread_new_chunk(thread);
	continue_chunk(thread);
	return true;
}

static struct tpc_thread *begin(struct tpc_thread *thread)
{
	bool good;

	tpc_reclaim_forbid(thread);
	thread->number = tpc_add(&tpc_header->threads, 1) + 1;
	if (thread->number >= 2)
		tpc_store(&tpc_thread_several, true);
	if (thread->number == 2)
		tpc_set_bits(&tpc_header->flags, TPROF_FLAG_WAS_THREADED);
	thread->events = 0;
	thread->timed = (struct tpc_timed){ .seed = thread->number };
	thread->last_block = 0;
	thread->until_sample = 0;
	thread->op_depth = 0;
	thread->instrumented_depth = 0;
	thread->fold.written = NULL;
	tpc_fold_reset(thread);
	thread->allocates = false;
	tpc_thread_set_bounds(thread, thread->bounds);
	thread->signal_blocked = false;
	thread->vfork_child = 0;
	thread->alternate = (struct tpc_range){ 0, 0 };
	thread->random = 0;
	memset(thread->walk, 0, TPC_WALK_HEAD);
	memset(thread->python, 0, TPC_WALK_HEAD);
	good = begin_chunk(thread);
	tpc_reclaim_allow(thread);
	thread->busy = TPC_IDLE;
	if (good && tpc_thread_attached) {
		uint64_t began = tpc_clock_before();

		tpc_thread_attached(thread);
		tpc_spent(began);
	}
	return good ? thread : NULL;
}

struct tpc_thread *tpc_thread_attach(void)
{
	uint64_t began = tpc_clock_before();
	uint32_t tid = tpc_sys_gettid();
	struct tpc_thread *thread = tpc_thread_take(tid);

	if (!thread) {
		tpc_lost(TPROF_LOST_NO_MEMORY, 1);
		return NULL;
	}
	thread->busy = TPC_BUSY_REAL;
	thread->busy_frame = 0; /* of no hook */
	tpc_self = thread;	/* from now on calls of this thread find it busy */
	thread->own = tpc_stack_of_thread(tid == tpc_state.pid);
	tpc_thread_set_bounds(thread, thread->own);
	tpc_spent(began);
	return begin(thread);
}

/* Those of the parent. A ring's are unmapped by now, and others are at the same addresses. */
static void end_chunks(struct tpc_thread *thread)
{
	if (thread->chunk && !tpc_ring_is_on())
		tpc_chunk_end(thread->chunk);
	if (thread->tables && !tpc_ring_is_on())
		tpc_chunk_end(thread->tables);
	thread->chunk = thread->tables = NULL;
}

void tpc_threads_forget(struct tpc_thread *survivor)
{
	tpc_assert(!survivor || survivor == tpc_self);
	tpc_threads_each(end_chunks);
	tpc_threads_keep(survivor);
	tpc_reclaim_forget(survivor);
	tpc_self = survivor;
	if (!survivor)
		return;
	tpc_unshared(survivor->tid) = tpc_sys_gettid();
	survivor->busy = TPC_BUSY_RECORD;
	tpc_unshared(survivor->timer) = 0;
	if (!begin(survivor))
		tpc_self = NULL;
}

static bool someone_is_busy;

static void look_if_busy(struct tpc_thread *thread)
{
	if (thread != tpc_self && tpc_load(&thread->busy) != TPC_IDLE &&
	    tpc_sys_thread_lives(tpc_state.pid, tpc_load(&thread->tid)))
		someone_is_busy = true;
}

static void start_over(struct tpc_thread *thread)
{
	end_chunks(thread);
	thread->at = thread->limit = NULL;
	thread->number = 0;
	thread->op_depth = thread->instrumented_depth = 0;
	thread->named = false;
	tpc_fold_reset(thread);
	memset(thread->walk, 0, TPC_WALK_HEAD);
	memset(thread->python, 0, TPC_WALK_HEAD);
}

bool tpc_threads_start_over(void)
{
	someone_is_busy = false;
	tpc_threads_each(look_if_busy);
	if (!someone_is_busy)
		tpc_threads_each(start_over);
	return !someone_is_busy;
}

void tpc_thread_find_stack(struct tpc_thread *thread, uintptr_t frame)
{
	uintptr_t page = frame & ~(uintptr_t)(TPC_PAGE - 1);

	tpc_thread_set_bounds(thread, thread->own);
	if (!tpc_thread_on_stack(thread, frame))
		tpc_thread_set_bounds(thread, (struct tpc_range){ page, page + TPC_STACK_WINDOW });
}
