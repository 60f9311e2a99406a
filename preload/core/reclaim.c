/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reclaim.h"

#include "core/chunk.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/fold.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/trylock.h"

#include <linux/membarrier.h>
#include <signal.h>
#include <time.h>

#define IDLE_NS UINT64_C(20000000) /* since a thread's last record */
#define MOST 64			   /* chunks that are taken at once */
#define LOOK_NS 50000		   /* between two looks whether the taker is done */

enum state { FREE, TAKEN, FORBIDDEN };

static tpc_shared_u32 turn;
static struct { /* of the thread that has the turn */
	struct tpc_thread *threads[MOST];
	size_t count;
	uint64_t before; /* shifted ticks */
} chosen;

/* ---- the taker ---- */

/* A record in which calls are counted is the thread's last one as long as it counts. */
static uint64_t last_of(const struct tpc_thread *thread)
{
	return tpc_load(&thread->time) + (tpc_load(&thread->fold.counting) ? TPC_FOLD_SPAN >> tpc_emit_shift : 0);
}

static __attribute__((no_sanitize("thread"))) bool is_idle(const struct tpc_thread *thread)
{
	return !tpc_load_acquire(&thread->fold.frame) && !tpc_load_acquire(&thread->fold.thrown) &&
	       !tpc_load_acquire(&thread->busy) && tpc_load_acquire(&thread->chunk);
}

static void choose(struct tpc_thread *thread)
{
	if (chosen.count == MOST || !is_idle(thread) || last_of(thread) >= chosen.before ||
	    !tpc_swap_if(&thread->reclaimed, (uint32_t)FREE, (uint32_t)TAKEN))
		return;
	tpc_store(&thread->limit, TPC_RECLAIM_LIMIT);
	chosen.threads[chosen.count++] = thread;
}

/* Every thread of the process has seen what was stored before, and what it stored before is seen after. */
static bool order_memory(void)
{
	return (tpc_syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0) == 0 &&
		tpc_syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0) == 0) ||
	       tpc_syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0, 0) == 0;
}

/* The limit is looked at last: a thread that changed it meanwhile would not wait. */
static void take(struct tpc_thread *thread)
{
	struct tprof_chunk *chunk = thread->chunk;

	if (!is_idle(thread) || tpc_load_acquire(&thread->limit) != TPC_RECLAIM_LIMIT)
		return;
	tpc_fold_give_up(&thread->fold);
	thread->chunk = NULL;
	thread->at = thread->limit = NULL;
	tpc_chunk_end(chunk);
}

static void take_chosen(void)
{
	bool ordered = chosen.count && order_memory();

	for (size_t i = 0; i < chosen.count; i++) {
		if (ordered)
			take(chosen.threads[i]);
		tpc_store_release(&chosen.threads[i]->reclaimed, (uint32_t)FREE); /* pairs with tpc_reclaim_forbid() */
	}
}

void tpc_reclaim_idle(void)
{
	uint64_t now = tpc_clock_before() - tpc_clock_ticks(IDLE_NS), all = UINT64_MAX, mask;

	/* No signal's handler may leave this by a longjmp, and no cancellation. */
	if (tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof(mask)) != 0)
		return;
	if (tpc_trylock_take(&turn)) {
		chosen.count = 0;
		chosen.before = now >> tpc_emit_shift;
		tpc_threads_each(choose);
		take_chosen();
		tpc_trylock_end(&turn);
	}
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof(mask));
}

/* ---- the others ---- */

static void change(struct tpc_thread *thread, enum state state)
{
	struct timespec rest = { .tv_nsec = LOOK_NS };

	while (!tpc_swap_if(&thread->reclaimed, (uint32_t)FREE,
			    (uint32_t)state) && /* acquire: pairs with take_chosen() */
	       tpc_load(&thread->reclaimed) != FORBIDDEN &&
	       !tpc_state_is_child())
		tpc_syscall(SYS_nanosleep, &rest, 0, 0, 0);
}

void tpc_reclaim_forbid(struct tpc_thread *thread)
{
	if (tpc_ring_is_on())
		change(thread, FORBIDDEN);
}

void tpc_reclaim_allow(struct tpc_thread *thread)
{
	if (tpc_ring_is_on())
		tpc_store_release(&thread->reclaimed, (uint32_t)FREE);
}

void tpc_reclaim_wait(struct tpc_thread *thread)
{
	if (tpc_ring_is_on() && tpc_load_acquire(&thread->reclaimed) == TAKEN)
		change(thread, FREE);
}

void tpc_reclaim_forget(struct tpc_thread *survivor)
{
	tpc_unshared(turn) = 0;
	if (survivor)
		tpc_unshared(survivor->reclaimed) = FREE;
}
