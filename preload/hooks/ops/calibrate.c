/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/ops/calibrate.h"

#include "core/clock.h"
#include "core/emit.h"
#include "core/fold.h"
#include "core/reclaim.h"
#include "core/state.h"
#include "core/sys.h"
#include "hooks/ops/stubs.h"

#define ROUNDS 10 /* the fastest counts: nothing interrupted it */
#define CALLS 64

typedef void callee(long layout, long transposed_a, long transposed_b, long m, long n, long k);

/* Replaces the thread's chunk; `real` and so on keep what is restored afterwards. */
struct stage {
	struct tprof_chunk chunk;
	uint8_t records[TPROF_CHUNK_SIZE - sizeof(struct tprof_chunk)];
	uint8_t *at, *limit;
	struct tprof_chunk *real;
	uint64_t time, events;
	struct tpc_fold fold;
};

static struct costs {
	uint32_t op_inside, op_outside, fold_inside, fold_outside, fold_untimed, work;
} costs; /* as in the header, once known */

struct cost {
	uint64_t inside, total; /* ticks of a call */
};

static __attribute__((noinline)) void nothing(long layout, long transposed_a, long transposed_b, long m, long n, long k)
{
	__asm__ volatile("" : : "r"(layout), "r"(transposed_a), "r"(transposed_b), "r"(m), "r"(n), "r"(k) : "memory");
}

static void enter_stage(struct tpc_thread *thread, struct stage *stage)
{
	tpc_reclaim_forbid(thread); /* the chunk is not one of the trace, and the thread will not be busy */
	tpc_fold_settle(thread);
	stage->at = thread->at;
	stage->limit = thread->limit;
	stage->real = thread->chunk;
	stage->time = thread->time;
	stage->events = thread->events;
	memcpy(&stage->fold, &thread->fold, sizeof(stage->fold));
	tpc_fold_close(&thread->fold);
	thread->chunk = &stage->chunk;
	thread->at = stage->records;
	thread->limit = stage->records + sizeof(stage->records) - TPC_RECORD_MAX;
}

static void leave_stage(struct tpc_thread *thread, const struct stage *stage)
{
	thread->chunk = stage->real;
	thread->at = stage->at;
	thread->limit = stage->limit;
	thread->time = stage->time;
	thread->events = stage->events;
	memcpy(&thread->fold, &stage->fold, sizeof(thread->fold));
	tpc_reclaim_allow(thread);
}

static uint64_t time_of(callee *volatile call)
{
	uint64_t begin = tpc_clock_before();

	for (int i = 0; i < CALLS; i++)
		call(101, 111, 111, 100, 100, 100);
	return tpc_clock_before() - begin;
}

/* Times of events are truncated to the unit of the trace: on average half a unit is missing. */
static uint64_t inside_of(struct tpc_thread *thread, callee *volatile call)
{
	uint64_t sum = 0, unit = UINT64_C(1) << tpc_emit_shift;

	for (int i = 0; i < CALLS; i++) {
		uint64_t end;

		call(101, 111, 111, 100, 100, 100);
		end = (thread->time << tpc_emit_shift) + unit / 2;
		sum += end > thread->op_open[thread->op_depth].start ? end - thread->op_open[thread->op_depth].start
								     : 0;
	}
	return sum;
}

static void keep_least(uint64_t *least, uint64_t value)
{
	if (value < *least)
		*least = value;
}

enum how {
	EVENTS,	 /* each call has events of its own */
	FOLDED,	 /* the calls are made hot first */
	UNTIMED, /* and the calls are only counted */
};

static struct cost measure(struct tpc_thread *thread, struct stage *stage, callee *volatile call, enum how how)
{
	struct cost cost = { UINT64_MAX, UINT64_MAX };
	uint64_t plain = UINT64_MAX, floor;

	for (int round = 0; round < ROUNDS; round++) {
		struct tpc_fold_slot *slot;
		uint64_t before;

		thread->at = stage->records;
		call(101, 111, 111, 100, 100, 100);
		slot = thread->op_open[thread->op_depth].slot;
		tpc_fold_heat(&thread->fold, slot, how != EVENTS ? TPC_FOLD_HOT : 0);
		tpc_fold_close(&thread->fold);
		call(101, 111, 111, 100, 100, 100);
		before = slot->count ? slot->count->ticks : 0;
		slot->share = how == UNTIMED && slot->count;
		thread->fold.untimed = INT32_MAX;
		keep_least(&plain, time_of(nothing));
		keep_least(&cost.total, time_of(call));
		if (how == EVENTS)
			keep_least(&cost.inside, inside_of(thread, call));
		else if (slot->count)
			keep_least(&cost.inside, slot->count->ticks - before);
	}
	/* The function itself takes no time: what is measured inside is recording, except for the call. */
	floor = plain / CALLS;
	cost.total = cost.total / CALLS > floor ? cost.total / CALLS - floor : 0;
	cost.inside = cost.inside / CALLS > floor / 2 ? cost.inside / CALLS - floor / 2 : 0;
	cost.inside = cost.inside < cost.total ? cost.inside : cost.total;
	return cost;
}

/* Makes a stub; its op number does not matter, as its events are discarded. */
static callee *make_stub(const char *name, bool typed)
{
	struct tpc_op_choice choice = { .category = "" };
	void *stub;

	memcpy(choice.name, name, strlen(name) + 1);
	if (typed) {
		choice.signature = (struct tpc_signature){ .kind = TPROF_WORK_GEMM,
							   .dtype = TPROF_DTYPE_F32,
							   .stack_known = true };
		tpc_signature_add(&choice.signature, TPC_PART_TRANS_A, 1);
		tpc_signature_add(&choice.signature, TPC_PART_TRANS_B, 2);
		for (unsigned i = 3; i < 6; i++)
			tpc_signature_add(&choice.signature, TPC_PART_DIM, i);
	}
	stub = tpc_op_stub((void *)nothing, &choice);
	if (stub)
		tpc_unshared(tpc_op_of_stub(stub)->op) = 1;
	return (callee *)stub;
}

/* From how many ticks on, on average, is a call worth timing? */
static uint32_t worth_timing(uint64_t ticks)
{
	return ticks < TPC_FOLD_TICKS / 2 / TPC_FOLD_WORTH ? (uint32_t)ticks * TPC_FOLD_WORTH : TPC_FOLD_TICKS / 2;
}

void tpc_ops_tell_costs(void)
{
	tpc_header->op_inside_ticks = costs.op_inside;
	tpc_header->op_outside_ticks = costs.op_outside;
	tpc_header->fold_inside_ticks = costs.fold_inside;
	tpc_header->fold_outside_ticks = costs.fold_outside;
	tpc_header->fold_untimed_ticks = costs.fold_untimed;
	tpc_header->work_ticks = costs.work;
}

uint32_t tpc_ops_calibrate(struct tpc_thread *thread)
{
	callee *untyped = make_stub("untyped", false), *typed = make_stub("typed", true);
	struct stage *stage = tpc_sys_mmap(sizeof(*stage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t busy = thread->busy, made = (untyped ? 1u : 0u) + (typed ? 1u : 0u);
	struct cost op, work, fold, untimed;

	if (tpc_sys_failed(stage))
		return made;
	/* The calls would end an op that an exception left, and that end must be recorded. */
	if (untyped && typed && thread->op_depth + 1 < TPC_OPS_MAX && tpc_load(&tpc_state.mode) == TPC_MODE_ON &&
	    thread->fold.outer > (uintptr_t)__builtin_frame_address(0)) {
		enter_stage(thread, stage);
		thread->busy = TPC_IDLE;
		op = measure(thread, stage, untyped, EVENTS);
		fold = measure(thread, stage, untyped, FOLDED);
		untimed = measure(thread, stage, untyped, UNTIMED);
		work = measure(thread, stage, typed, EVENTS);
		thread->busy = busy;
		leave_stage(thread, stage);
		costs = (struct costs){
			.op_inside = (uint32_t)op.inside,
			.op_outside = (uint32_t)(op.total - op.inside),
			.fold_inside = (uint32_t)fold.inside,
			.fold_outside = (uint32_t)(fold.total - fold.inside),
			.fold_untimed = (uint32_t)untimed.total,
			.work = work.total > op.total ? (uint32_t)(work.total - op.total) : 0,
		};
		tpc_fold_short = costs.fold_untimed && fold.total > untimed.total ? worth_timing(fold.total) : 0;
	}
	tpc_sys_munmap(stage, sizeof(*stage));
	tpc_ops_tell_costs();
	return made;
}
