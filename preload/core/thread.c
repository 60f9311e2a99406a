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

TP_TLS struct tp_thread *tp_self;
bool tp_thread_several;
bool tp_thread_may_pass;
void (*tp_thread_attached)(struct tp_thread *thread);

static uint32_t allocating;    /* threads that tp_thread_allocates() heard of */
static struct tp_thread *all;  /* pushed to, never popped from */
static struct tp_thread *hand; /* where the search for a dead one goes on */

/*
 * A struct whose thread is dead, taken. Looks at a few only: a program may have a thousand live threads and make one
 * more each millisecond.
 */
static struct tp_thread *take_over(uint32_t tid)
{
	struct tp_thread *at = tp_load_acquire(&hand);

	for (int i = 0; i < 8; i++) {
		uint32_t owner;

		if (!at)
			at = tp_load_acquire(&all);
		if (!at)
			return NULL;
		owner = tp_load(&at->tid);
		if ((owner == tid || !tp_sys_thread_lives(tp_state.pid, owner)) && owner != 0 &&
		    tp_swap_if(&at->tid, owner, tid)) {
			tp_store_release(&hand, at->next);
			return at;
		}
		at = at->next;
	}
	tp_store_release(&hand, at);
	return NULL;
}

/*
 * A thread that has filled so many chunks gets its struct into one large page: its own memory of stacks is met in no order, and
 * the program's data takes the TLB each time round. Not many threads, as that is 2 MiB, most of which each has touched by then.
 */
#define CHUNKS_MANY 64u
#define LARGE_THREADS 4u

static void count_chunk(struct tp_thread *thread)
{
	static uint32_t large;

	if (++thread->chunks == CHUNKS_MANY && tp_add(&large, 1u) < LARGE_THREADS)
		tp_space_gather(thread);
}

static struct tp_thread *make(uint32_t tid)
{
	struct tp_thread *thread = tp_space_at_border(sizeof(*thread)), *first;

	if (!thread)
		return NULL;
	tp_space_note(thread, sizeof(*thread));
	tp_add(&tp_header->collector_bytes, sizeof(*thread) - TP_WALK_BYTES - TP_PYTHON_BYTES);
	thread->tid = tid;
	do {
		first = tp_load_acquire(&all);
		thread->next = first;
	} while (!tp_swap_if(&all, first, thread)); /* release: pairs with take_over()'s acquire */
	return thread;
}

static void reset_coding(struct tp_thread *thread)
{
	thread->address = 0;
	thread->stack = 0;
	thread->delta = 0;
	memset(thread->addresses, 0, sizeof(thread->addresses));
	memset(thread->stacks, 0, sizeof(thread->stacks));
}

/* As the kernel has it: it may have changed since the last chunk. */
static void put_name(struct tp_thread *thread)
{
	char name[16] = "";

	if (thread->named)
		return;
	tp_syscall(SYS_prctl, PR_GET_NAME, name, 0, 0);
	tp_emit_name(thread, name, strnlen(name, sizeof(name)));
}

bool tp_thread_new_chunk(struct tp_thread *thread)
{
	struct tprof_chunk *chunk, *old;

	if (tp_fold_unsettled(&thread->fold)) {
		tp_fold_settle(thread);
		if (thread->at < thread->limit)
			return true;
	}
	chunk = tp_chunk_begin(TPROF_CHUNK_EVENTS, thread->number, tp_load(&thread->tid), thread->chunk != NULL);
	if (!chunk) {
		tp_lost_stopped(1);
		return false;
	}
	tp_fold_close(&thread->fold);
	old = thread->chunk;
	thread->chunk = chunk;
	thread->at = tp_chunk_bytes(chunk);
	thread->limit = tp_chunk_limit(chunk) - TP_RECORD_MAX;
	thread->time = chunk->begin.ticks >> tp_emit_shift;
	reset_coding(thread);
	thread->named = thread->named && old;
	put_name(thread);
	if (old)
		tp_chunk_end(old); /* last: a longjmp may leave us anywhere */
	count_chunk(thread);
	return true;
}

/* The rest of a dead thread's chunk. */
static void continue_chunk(struct tp_thread *thread)
{
	uint64_t ticks = tp_clock_before();

	reset_coding(thread);
	tp_emit_thread(thread, ticks);
	thread->named = false;
	put_name(thread);
}

void tp_thread_recover(struct tp_thread *thread)
{
	tp_lost(TPROF_LOST_REENTRANT, 1);
	memset(thread->walk, 0, TP_WALK_HEAD);
	memset(thread->python, 0, TP_WALK_HEAD);
	tp_scope_recover(thread);
	tp_fold_reset(thread);
	if (!thread->chunk)
		return;
	thread->at = tp_chunk_bytes(thread->chunk) + tp_chunk_committed(thread->chunk);
	thread->limit = tp_chunk_limit(thread->chunk) - TP_RECORD_MAX;
	if (thread->at < thread->limit)
		continue_chunk(thread);
}

static struct tp_thread *begin(struct tp_thread *thread)
{
	thread->number = tp_add(&tp_header->threads, 1) + 1;
	if (thread->number >= 2)
		tp_store(&tp_thread_several, true);
	if (thread->number == 2)
		__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_WAS_THREADED, __ATOMIC_RELAXED);
	thread->events = 0;
	thread->timed = (struct tp_timed){ .seed = thread->number };
	thread->last_block = 0;
	thread->until_sample = 0;
	thread->op_depth = 0;
	thread->instrumented_depth = 0;
	thread->fold.written = NULL;
	tp_fold_reset(thread);
	thread->allocates = false;
	tp_thread_set_bounds(thread, thread->bounds);
	thread->signal_blocked = false;
	thread->vfork_child = 0;
	thread->alternate = (struct tp_range){ 0, 0 };
	thread->random = 0;
	memset(thread->walk, 0, TP_WALK_HEAD);
	memset(thread->python, 0, TP_WALK_HEAD);
	if (thread->chunk && thread->at < thread->limit) {
		continue_chunk(thread);
	} else if (!tp_thread_new_chunk(thread)) {
		thread->busy = TP_IDLE;
		return NULL;
	}
	thread->busy = TP_IDLE;
	if (tp_thread_attached) {
		uint64_t began = tp_clock_before();

		tp_thread_attached(thread);
		tp_spent(began);
	}
	return thread;
}

struct tp_thread *tp_thread_attach(void)
{
	uint64_t began = tp_clock_before();
	uint32_t tid = tp_sys_gettid();
	struct tp_thread *thread = take_over(tid);

	if (!thread)
		thread = make(tid);
	if (!thread) {
		tp_lost(TPROF_LOST_NO_MEMORY, 1);
		return NULL;
	}
	thread->busy = TP_BUSY_REAL;
	thread->busy_frame = 0; /* of no hook */
	tp_self = thread;	/* from here on this thread's own calls find it busy */
	thread->own = tp_stack_of_thread(tid == tp_state.pid);
	tp_thread_set_bounds(thread, thread->own);
	tp_spent(began);
	return begin(thread);
}

void tp_threads_forget(struct tp_thread *survivor)
{
	for (struct tp_thread *thread = all; thread; thread = thread->next) {
		if (thread->chunk)
			tp_chunk_end(thread->chunk);
		if (thread->tables)
			tp_chunk_end(thread->tables);
		thread->chunk = thread->tables = NULL;
	}
	all = survivor;
	hand = NULL;
	tp_clock_shared = allocating = 0;
	tp_thread_several = false;
	tp_self = survivor;
	if (!survivor)
		return;
	survivor->next = NULL;
	survivor->tid = tp_sys_gettid();
	survivor->busy = TP_BUSY_RECORD;
	survivor->timer = 0;
	if (!begin(survivor))
		tp_self = NULL;
}

void tp_threads_each(void (*visit)(struct tp_thread *thread))
{
	for (struct tp_thread *thread = tp_load_acquire(&all); thread; thread = thread->next)
		visit(thread);
}

void tp_thread_allocates(struct tp_thread *thread)
{
	thread->allocates = true;
	if (tp_add(&allocating, 1u))
		tp_store_release(&tp_clock_shared, 1u); /* pairs with tp_clock_is_shared() */
	tp_thread_set_bounds(thread, thread->bounds);
}

void tp_thread_set_bounds(struct tp_thread *thread, struct tp_range bounds)
{
	bool hot = thread->allocates && bounds.low == thread->own.low && bounds.high == thread->own.high &&
		   tp_config.alloc == TP_ALLOC_TRACE && tp_clock_kind == TPROF_CLOCK_TSC;

	thread->bounds = bounds;
	thread->extent = bounds.high - bounds.low;
	thread->hot_extent = hot ? bounds.high - bounds.low : 0;
	thread->pass_extent = tp_thread_may_pass && tp_config.alloc != TP_ALLOC_TRACE ? bounds.high - bounds.low : 0;
}

void tp_thread_find_stack(struct tp_thread *thread, uintptr_t frame)
{
	uintptr_t page = frame & ~(uintptr_t)(TP_PAGE - 1);

	tp_thread_set_bounds(thread, thread->own);
	if (!tp_thread_on_stack(thread, frame))
		tp_thread_set_bounds(thread, (struct tp_range){ page, page + TP_STACK_WINDOW });
}
