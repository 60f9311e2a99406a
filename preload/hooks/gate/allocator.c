/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/allocator.h"

#include "core/budget.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/lookup.h"
#include "core/memory_sample.h"
#include "core/reclaim.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/link/loader.h"
#include "hooks/link/real.h"
#include "stacks/walk.h"

#include <errno.h>
#include <signal.h>

#define SHARE 400 /* at most 1/SHARE of the time */
#define LEAST_NS 5000000
#define BUSY UINT64_MAX
#define DEPTH_MAX 8

/* In the order of the record's fields; 0 if this jemalloc lacks a number. */
static const char *const names[TPROF_ALLOCATOR_NUMBERS] = {
	"stats.allocated", "stats.active", "stats.metadata", "stats.resident", "stats.mapped", "stats.retained",
};

typedef int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

static struct {
	TPC_SHARED(mallctl *) ctl;
	int (*ctl_by_mib)(const size_t *, size_t, void *, size_t *, void *, size_t);
	int (*name_to_mib)(const char *, size_t *, size_t *);
	bool known; /* the mibs; only while BUSY */
	size_t mibs[TPROF_ALLOCATOR_NUMBERS][DEPTH_MAX], depths[TPROF_ALLOCATOR_NUMBERS];
} jemalloc;

void tpc_allocator_find(void)
{
	const void *beside = (const void *)tpc_real.malloc;

	tpc_store(&tpc_state.by_libc, 1u);
	if (!beside)
		return;
	jemalloc.ctl_by_mib = tpc_lookup_beside(beside, "mallctlbymib");
	jemalloc.name_to_mib = tpc_lookup_beside(beside, "mallctlnametomib");
	/* Release: pairs with tpc_allocator_ask(), maybe on another thread. */
	if (jemalloc.ctl_by_mib && jemalloc.name_to_mib)
		tpc_store_release(&jemalloc.ctl, tpc_lookup_beside(beside, "mallctl"));
}

/* Looks up the names, once. Depth 0: this jemalloc lacks the number. */
static void find_numbers(void)
{
	for (size_t i = 0; i < TPROF_ALLOCATOR_NUMBERS && !jemalloc.known; i++) {
		jemalloc.depths[i] = DEPTH_MAX;
		if (jemalloc.name_to_mib(names[i], jemalloc.mibs[i], &jemalloc.depths[i]) != 0)
			jemalloc.depths[i] = 0;
	}
	jemalloc.known = true;
}

/* False: jemalloc was built without statistics. */
static bool read_numbers(uint64_t *numbers)
{
	uint64_t epoch = 1;
	size_t size = sizeof(epoch);

	if (tpc_load(&jemalloc.ctl)("epoch", &epoch, &size, &epoch, sizeof(epoch)) != 0) /* refreshes all numbers */
		return false;
	find_numbers();
	for (size_t i = 0; i < TPROF_ALLOCATOR_NUMBERS; i++) {
		size_t value = 0;

		size = sizeof(value);
		if (jemalloc.depths[i] &&
		    jemalloc.ctl_by_mib(jemalloc.mibs[i], jemalloc.depths[i], &value, &size, NULL, 0) != 0)
			value = 0;
		numbers[i] = value;
	}
	return numbers[0] || numbers[1];
}

/* Asks with all signals blocked, including those that libc reserves. */
static bool ask(struct tpc_thread *thread, uint64_t *numbers)
{
	uint64_t all = ~UINT64_C(0), before = 0;
	int saved = errno;
	bool told;

	thread->busy = TPC_BUSY_REAL;
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	told = read_numbers(numbers);
	tpc_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
	thread->busy = TPC_BUSY_RECORD;
	errno = saved;
	return told;
}

static bool is_safe(struct tpc_thread *thread)
{
	return tpc_load(&tpc_state.by_libc) && tpc_load(&tpc_state.mode) == TPC_MODE_ON &&
	       tpc_walk_is_plain(thread, (const void *)thread->busy_frame, tpc_real_allocator());
}

/* RSS first, so that it matches the numbers. */
static void record(struct tpc_thread *thread)
{
	uint64_t numbers[TPROF_ALLOCATOR_NUMBERS];

	if (!tpc_loader_begin())
		return;
	if (ask(thread, numbers)) {
		tpc_sample_memory(thread);
		tpc_emit_allocator(thread, tpc_clock_before(), numbers);
	} else {
		tpc_store(&jemalloc.ctl, NULL);
	}
	tpc_loader_end();
}

void tpc_allocator_ask(struct tpc_thread *thread, bool now)
{
	uint64_t ticks = tpc_clock_before(), due = tpc_load(&tpc_state.next_allocator), began, spent;
	struct tprof_chunk *chunk;

	/* Acquire: pairs with tpc_allocator_find(). */
	if (!tpc_load_acquire(&jemalloc.ctl) || due == BUSY || (ticks < due && !now) || !is_safe(thread) ||
	    !tpc_swap_if(&tpc_state.next_allocator, due, BUSY))
		return;
	began = tpc_clock_thread_ns();
	record(thread);
	spent = tpc_clock_thread_ns() - began;
	chunk = tpc_reclaim_left(thread);
	if (chunk)
		chunk->overhead_ticks += tpc_clock_ticks(spent);
	spent *= due ? tpc_budget_part(SHARE) : 0; /* the first time much of it went into creating what is asked for */
	/* Release: pairs with the swap of the next thread, which owns these variables then. */
	tpc_store_release(&tpc_state.next_allocator, ticks + tpc_clock_ticks(spent > LEAST_NS ? spent : LEAST_NS));
}
