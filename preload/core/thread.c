/* SPDX-License-Identifier: Apache-2.0 */
#include "core/thread.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/space.h"
#include "core/state.h"
#include "core/sys.h"

TPC_TLS struct tpc_thread *tpc_self;
tpc_shared_bool tpc_thread_several;
bool tpc_thread_may_pass;

static tpc_shared_u32 allocating;	     /* threads that have called tpc_thread_allocates() */
static TPC_SHARED(struct tpc_thread *) all;  /* pushed to, never popped from */
static TPC_SHARED(struct tpc_thread *) hand; /* where the search for a dead thread continues */

/*
 * Takes the struct of a dead thread. Looks at only a few: a program may have a thousand live threads and start one each
 * millisecond.
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

static struct tpc_thread *make(uint32_t tid)
{
	struct tpc_thread *thread = tpc_space_at_border(sizeof(*thread)), *first;

	if (!thread)
		return NULL;
	tpc_space_note(thread, sizeof(*thread));
	tpc_add(&tpc_header->collector_bytes, sizeof(*thread) - TPC_WALK_BYTES - TPC_PYTHON_BYTES);
	tpc_unshared(thread->tid) = tid;
	do {
		first = tpc_load_acquire(&all);
		thread->next = first;
	} while (!tpc_swap_if(&all, first, thread)); /* release: pairs with take_over()'s acquire */
	return thread;
}

struct tpc_thread *tpc_thread_take(uint32_t tid)
{
	struct tpc_thread *thread = take_over(tid);

	return thread ? thread : make(tid);
}

void tpc_threads_keep(struct tpc_thread *survivor)
{
	tpc_unshared(all) = survivor;
	if (survivor)
		survivor->next = NULL;
	tpc_unshared(hand) = NULL;
	tpc_unshared(tpc_clock_shared) = tpc_unshared(allocating) = 0;
	tpc_unshared(tpc_thread_several) = false;
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
	thread->pass_extent = tpc_thread_may_pass && tpc_config.alloc != TPC_ALLOC_TRACE && !tpc_config_takes_all()
				      ? bounds.high - bounds.low
				      : 0;
}
