/* SPDX-License-Identifier: Apache-2.0 */
#include "core/budget.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/thread.h"
#include "core/timed.h"

#include <time.h>

void (*tpc_budget_pass_ops)(bool pass);

#define CREDIT_NS UINT64_C(1000000000) /* of CPU time: its share can be saved up */
#define ENTER_NS 40		       /* of an event, for the parts of a hook that are not timed */
#define PAIR_NS 250		       /* assumed for an allocation and its free where all are recorded */
#define LONGEST_NS 30000	       /* of an event; what took longer was interrupted */
#define SAMPLE_MOST_NS UINT64_C(1000000000)
#define STEADY_NS UINT64_C(250000000) /* of CPU time */
#define WAIT_NS UINT64_C(1000000000)  /* of CPU time: all allocations are tried again after so long, */
#define WAIT_MOST_NS (64 * WAIT_NS)   /* and the later the shorter the last try was */

/* log2 of the means; 0: all allocations are recorded. */
static const uint8_t means[] = { 0, TPC_BUDGET_MEAN_LOG2, TPC_BUDGET_MEAN_LOG2 + 3 };

/* What was spent up to now, counted by all threads. */
static struct {
	tpc_shared_u64 timed_ticks, timed, folded, samples_ns, allocations;
	tpc_shared_bool full;
} spent;

/* Of the thread that looks; one at a time. */
static struct {
	uint64_t cpu_ns, events, timed_ticks, timed, folded, samples_ns; /* when it was looked last */
	int64_t credit;							 /* ticks */
	uint32_t level;							 /* of `means` */
	uint64_t level_ns, wait_ns; /* CPU time: of the last change of `level`, and until the next try */
	uint64_t allowed, took;	    /* ticks since that change: the share, and what allocations took */
	uint64_t allocations;	    /* spent.allocations at that change */
	bool passed_by;		    /* calls of hooked functions are not recorded */
	tpc_shared_bool busy;
} now;

/* The cost since the last look, in ticks. */
struct cost {
	uint64_t allocations, ops, samples, allowed;
};

static uint64_t cpu_ns(void)
{
	struct timespec time = { 0 };

	tpc_syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time, 0, 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Three quarters of the bound, in ticks: the rest is for what is not part of the sum. */
static uint64_t share_of(uint64_t ns)
{
	return tpc_clock_ticks(ns / 40000 * 3 * tpc_config.max_overhead);
}

void tpc_budget_open(void)
{
	if (!tpc_budget_is_on())
		return;
	tpc_header->max_overhead = tpc_config.max_overhead;
	if (tpc_config.alloc == TPC_ALLOC_SAMPLE && !tpc_config.sample_bytes)
		tpc_header->sample_bytes = UINT64_C(1) << TPC_BUDGET_MEAN_LOG2;
	tpc_set_bits(&tpc_header->features_required, TPROF_FEATURE_LEVELS);
	memset(&spent, 0, sizeof(spent));
	memset(&now, 0, sizeof(now));
	now.cpu_ns = now.level_ns = cpu_ns();
	now.credit = (int64_t)share_of(CREDIT_NS / 16);
	now.wait_ns = WAIT_NS;
	tpc_store(&tpc_config.mean_log2, 0u);
}

void tpc_budget_timed(uint64_t ticks)
{
	uint64_t longest = tpc_clock_ticks(LONGEST_NS);

	tpc_add(&spent.timed_ticks, ticks < longest ? ticks : longest);
	tpc_add(&spent.timed, UINT64_C(1));
}

void tpc_budget_stands_for(uint64_t allocations)
{
	tpc_add(&spent.allocations, allocations);
}

uint64_t tpc_budget_sampled(uint64_t took_ns, uint64_t ns)
{
	uint64_t wait = took_ns * 4 * 10000 / tpc_config.max_overhead;

	tpc_add(&spent.samples_ns, took_ns);
	if (wait > SAMPLE_MOST_NS)
		wait = SAMPLE_MOST_NS;
	return wait > ns ? wait : ns;
}

void tpc_budget_folded(uint32_t calls)
{
	tpc_add(&spent.folded, (uint64_t)calls);
}

void tpc_budget_full(void)
{
	tpc_store(&spent.full, true);
}

/* ---- costs ---- */

static uint64_t event_sum;

static void add_events(struct tpc_thread *thread)
{
	event_sum += tpc_load(&thread->events);
}

static uint64_t since(uint64_t *last, uint64_t present)
{
	uint64_t passed = present > *last ? present - *last : 0;

	*last = present;
	return passed;
}

/* One event of TPC_TIMED_SHARE is timed; hooked functions' events never are, but take their numbers. */
static struct cost cost_now(void)
{
	const struct tprof_header *header = tpc_header;
	uint64_t ticks = since(&now.timed_ticks, tpc_load(&spent.timed_ticks)) * TPC_TIMED_SHARE;
	uint64_t timed = since(&now.timed, tpc_load(&spent.timed)) * TPC_TIMED_SHARE, events;
	uint64_t folded = since(&now.folded, tpc_load(&spent.folded));
	uint64_t call = header->op_inside_ticks + header->op_outside_ticks;
	uint64_t folded_call = header->fold_untimed_ticks ?: header->fold_inside_ticks + header->fold_outside_ticks;

	event_sum = 0;
	tpc_threads_each(add_events);
	events = since(&now.events, event_sum);
	return (struct cost){ .allocations = ticks + timed * tpc_clock_ticks(ENTER_NS),
			      .ops = (events > timed ? events - timed : 0) * call / 2 + folded * folded_call,
			      .samples = tpc_clock_ticks(since(&now.samples_ns, tpc_load(&spent.samples_ns))),
			      .allowed = share_of(since(&now.cpu_ns, cpu_ns())) };
}

/* ---- levels ---- */

/* From now on these threads look at the level before they pass by an allocation. */
static void look_first(struct tpc_thread *thread)
{
	tpc_store(&thread->pass_extent, UINT64_C(0));
}

static void set_level(uint32_t level)
{
	now.level = level;
	now.level_ns = now.cpu_ns;
	now.allowed = now.took = 0;
	now.allocations = tpc_load(&spent.allocations);
	tpc_store(&tpc_config.mean_log2, (uint32_t)means[level]);
}

static void pass_ops(bool pass)
{
	now.passed_by = pass;
	tpc_budget_pass_ops(pass);
}

/* Samples of allocations are few, so what they cost is known only after a while. */
static bool samples_are_dear(void)
{
	return now.allowed >= share_of(STEADY_NS) && now.took > now.allowed;
}

static void sample_less(void)
{
	if (!now.level)
		now.wait_ns = now.cpu_ns - now.level_ns >= WAIT_NS ? WAIT_NS
			      : now.wait_ns < WAIT_MOST_NS	   ? 2 * now.wait_ns
								   : WAIT_MOST_NS;
	set_level(now.level + 1);
}

static bool less(const struct cost *cost)
{
	bool can =
		tpc_config.alloc == TPC_ALLOC_SAMPLE && !tpc_config.sample_bytes && now.level + 1 < TPC_LENGTH(means);

	if (can && (now.level ? samples_are_dear() : cost->allocations > cost->allowed / 2))
		sample_less();
	else if (!now.passed_by && cost->ops > cost->allowed / 2 && tpc_budget_pass_ops)
		pass_ops(true);
	else
		return false;
	return true;
}

/* Would recording all allocations since the last change of the level have cost less than the share? */
static bool all_would_fit(void)
{
	uint64_t allocations = tpc_load(&spent.allocations) - now.allocations;

	return tpc_clock_ticks(allocations * PAIR_NS) < now.allowed;
}

/* Samples by a smaller mean come first, as they cost little. Then ops, and then all allocations. */
static bool more(void)
{
	uint64_t since = now.cpu_ns - now.level_ns;

	if (now.level > 1 && since >= WAIT_NS)
		set_level(now.level - 1);
	else if (now.passed_by)
		pass_ops(false);
	else if (now.level == 1 && since >= now.wait_ns && !tpc_load(&spent.full) && all_would_fit())
		set_level(0);
	else
		return false;
	return true;
}

static bool change(const struct cost *cost)
{
	int64_t most = (int64_t)share_of(CREDIT_NS);

	now.allowed += cost->allowed;
	now.took += cost->allocations;
	now.credit += (int64_t)cost->allowed - (int64_t)(cost->allocations + cost->ops + cost->samples);
	if (now.credit > most)
		now.credit = most;
	if (tpc_load(&spent.full) && !now.level) {
		set_level(1);
		return true;
	}
	if (now.credit < 0)
		return less(cost);
	return now.credit > most / 2 && more();
}

static uint8_t mean_log2(void)
{
	if (tpc_config.alloc == TPC_ALLOC_OFF)
		return 62;
	return tpc_config.sample_bytes ? (uint8_t)(63 - __builtin_clzll(tpc_config.sample_bytes)) : means[now.level];
}

void tpc_budget_look(struct tpc_thread *thread)
{
	struct cost cost;

	if (!tpc_budget_is_on() || !tpc_swap_if(&now.busy, false, true))
		return;
	cost = cost_now();
	if (change(&cost))
		tpc_emit_level(thread, tpc_clock_before(), mean_log2(), !now.passed_by);
	if (tpc_config_takes_all())
		tpc_threads_each(look_first); /* again: one may just have moved to another stack */
	tpc_store_release(&now.busy, false);  /* pairs with the swap above */
}
