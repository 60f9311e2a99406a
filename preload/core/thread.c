/* SPDX-License-Identifier: Apache-2.0 */
#include "core/thread.h"

#include "core/chunk.h"
#include "core/clock.h"
#include "core/config.h"
#include "core/emit.h"
#include "core/scope.h"
#include "core/space.h"
#include "core/stackrange.h"
#include "core/state.h"
#include "core/sys.h"

#include <sys/prctl.h>

TPC_TLS struct tpc_thread *tpc_self;
bool tpc_thread_several;
bool tpc_thread_may_pass;
void (*tpc_thread_attached)(struct tpc_thread *thread);

static uint32_t allocating;	/* threads that tpc_thread_allocates() heard of */
static struct tpc_thread *all;	/* pushed to, never popped from */
static struct tpc_thread *hand; /* where the search for a dead one goes on */

/*
 * A struct whose thread is dead, taken. Looks at a few only: a program may have a thousand live threads and make one
 * more each millisecond.
 */
static struct tpc_thread *take_over(uint32_t tid)
{
	struct tpc_thread *at = tpc_load_acquire(&hand);

	for (int i = 0; i < 8; i++) {
		uint32_t owner;

		if (!at)
			at = tpc_load_acquire(&all);
		if (!at)
			return NULL;
		owner = tpc_load(&at->tid);
		if ((owner == tid || !tpc_sys_thread_lives(tpc_state.pid, owner)) && owner != 0 &&
		    tpc_swap_if(&at->tid, owner, tid)) {
			tpc_store_release(&hand, at->next);
			return at;
		}
		at = at->next;
	}
	tpc_store_release(&hand, at);
	return NULL;
}

/*
 * A thread that has filled so many chunks gets its struct into one large page: its own memory of stacks is met in no order, and
 * the program's data takes the TLB each time round. Not many threads, as that is 2 MiB, most of which each has touched by then.
 */
#define CHUNKS_MANY 64u
#define LARGE_THREADS 4u

static void count_chunk(struct tpc_thread *thread)
{
	static uint32_t large;

	if (++thread->chunks == CHUNKS_MANY && tpc_add(&large, 1u) < LARGE_THREADS)
		tpc_space_gather(thread);
}

static struct tpc_thread *make(uint32_t tid)
{
	struct tpc_thread *thread = tpc_space_at_border(sizeof(*thread)), *first;

	if (!thread)
		return NULL;
	tpc_space_note(thread, sizeof(*thread));
	tpc_add(&tpc_header->collector_bytes, sizeof(*thread) - TPC_WALK_BYTES - TPC_PYTHON_BYTES);
	thread->tid = tid;
	do {
		first = tpc_load_acquire(&all);
		thread->next = first;
	} while (!tpc_swap_if(&all, first, thread)); /* release: pairs with take_over()'s acquire */
	return thread;
}

static void reset_coding(struct tpc_thread *thread)
{
	thread->address = 0;
	thread->stack = 0;
	thread->delta = 0;
	memset(thread->addresses, 0, sizeof(thread->addresses));
	memset(thread->stacks, 0, sizeof(thread->stacks));
}

/* As the kernel has it: it may have changed since the last chunk. */
static void put_name(struct tpc_thread *thread)
{
	char name[16] = "";

	if (thread->named)
		return;
	tpc_syscall(SYS_prctl, PR_GET_NAME, name, 0, 0);
	tpc_emit_name(thread, name, strnlen(name, sizeof(name)));
}

bool tpc_thread_new_chunk(struct tpc_thread *thread)
{
	struct tprof_chunk *chunk, *old;

	if (tpc_fold_unsettled(&thread->fold)) {
		tpc_fold_settle(thread);
		if (thread->at < thread->limit)
			return true;
	}
	chunk = tpc_chunk_begin(TPROF_CHUNK_EVENTS, thread->number, tpc_load(&thread->tid), thread->chunk != NULL);
	if (!chunk) {
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
	thread->named = thread->named && old;
	put_name(thread);
	if (old)
		tpc_chunk_end(old); /* last: a longjmp may leave us anywhere */
	count_chunk(thread);
	return true;
}

/* The rest of a dead thread's chunk. */
static void continue_chunk(struct tpc_thread *thread)
{
	uint64_t ticks = tpc_clock_before();

	reset_coding(thread);
	tpc_emit_thread(thread, ticks);
	thread->named = false;
	put_name(thread);
}

void tpc_thread_recover(struct tpc_thread *thread)
{
	tpc_lost(TPROF_LOST_REENTRANT, 1);
	memset(thread->walk, 0, TPC_WALK_HEAD);
	memset(thread->python, 0, TPC_WALK_HEAD);
	tpc_scope_recover(thread);
	tpc_fold_reset(thread);
	if (!thread->chunk)
		return;
	thread->at = tpc_chunk_bytes(thread->chunk) + tpc_chunk_committed(thread->chunk);
	thread->limit = tpc_chunk_limit(thread->chunk) - TPC_RECORD_MAX;
	if (thread->at < thread->limit)
		continue_chunk(thread);
}

static struct tpc_thread *begin(struct tpc_thread *thread)
{
	thread->number = tpc_add(&tpc_header->threads, 1) + 1;
	if (thread->number >= 2)
		tpc_store(&tpc_thread_several, true);
	if (thread->number == 2)
		__atomic_fetch_or(&tpc_header->flags, TPROF_FLAG_WAS_THREADED, __ATOMIC_RELAXED);
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
	if (thread->chunk && thread->at < thread->limit) {
		continue_chunk(thread);
	} else if (!tpc_thread_new_chunk(thread)) {
		thread->busy = TPC_IDLE;
		return NULL;
	}
	thread->busy = TPC_IDLE;
	if (tpc_thread_attached) {
		uint64_t began = tpc_clock_before();

		tpc_thread_attached(thread);
		tpc_spent(began);
	}
	return thread;
}

struct tpc_thread *tpc_thread_attach(void)
{
	uint64_t began = tpc_clock_before();
	uint32_t tid = tpc_sys_gettid();
	struct tpc_thread *thread = take_over(tid);

	if (!thread)
		thread = make(tid);
	if (!thread) {
		tpc_lost(TPROF_LOST_NO_MEMORY, 1);
		return NULL;
	}
	thread->busy = TPC_BUSY_REAL;
	thread->busy_frame = 0; /* of no hook */
	tpc_self = thread;	/* from here on this thread's own calls find it busy */
	thread->own = tpc_stack_of_thread(tid == tpc_state.pid);
	tpc_thread_set_bounds(thread, thread->own);
	tpc_spent(began);
	return begin(thread);
}

void tpc_threads_forget(struct tpc_thread *survivor)
{
	for (struct tpc_thread *thread = all; thread; thread = thread->next) {
		if (thread->chunk)
			tpc_chunk_end(thread->chunk);
		if (thread->tables)
			tpc_chunk_end(thread->tables);
		thread->chunk = thread->tables = NULL;
	}
	all = survivor;
	hand = NULL;
	tpc_clock_shared = allocating = 0;
	tpc_thread_several = false;
	tpc_self = survivor;
	if (!survivor)
		return;
	survivor->next = NULL;
	survivor->tid = tpc_sys_gettid();
	survivor->busy = TPC_BUSY_RECORD;
	survivor->timer = 0;
	if (!begin(survivor))
		tpc_self = NULL;
}

void tpc_threads_each(void (*visit)(struct tpc_thread *thread))
{
	for (struct tpc_thread *thread = tpc_load_acquire(&all); thread; thread = thread->next)
		visit(thread);
}

void tpc_thread_allocates(struct tpc_thread *thread)
{
	thread->allocates = true;
	if (tpc_add(&allocating, 1u))
		tpc_store_release(&tpc_clock_shared, 1u); /* pairs with tpc_clock_is_shared() */
	tpc_thread_set_bounds(thread, thread->bounds);
}

void tpc_thread_set_bounds(struct tpc_thread *thread, struct tpc_range bounds)
{
	bool hot = thread->allocates && bounds.low == thread->own.low && bounds.high == thread->own.high &&
		   tpc_config.alloc == TPC_ALLOC_TRACE && tpc_clock_kind == TPROF_CLOCK_TSC;

	thread->bounds = bounds;
	thread->extent = bounds.high - bounds.low;
	thread->hot_extent = hot ? bounds.high - bounds.low : 0;
	thread->pass_extent = tpc_thread_may_pass && tpc_config.alloc != TPC_ALLOC_TRACE ? bounds.high - bounds.low : 0;
}

void tpc_thread_find_stack(struct tpc_thread *thread, uintptr_t frame)
{
	uintptr_t page = frame & ~(uintptr_t)(TPC_PAGE - 1);

	tpc_thread_set_bounds(thread, thread->own);
	if (!tpc_thread_on_stack(thread, frame))
		tpc_thread_set_bounds(thread, (struct tpc_range){ page, page + TPC_STACK_WINDOW });
}
