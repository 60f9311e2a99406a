/* SPDX-License-Identifier: Apache-2.0 */
/* What trampoline.S calls around a hooked function. */
#include "hooks/control.h"
#include "hooks/enter.h"
#include "hooks/ops/names.h"
#include "hooks/ops/stubs.h"
#include "stacks/frames.h"

#define WINDOW_MAX 1024u /* bytes of stack arguments that are passed on at most, where their number is not known */

struct called { /* what trampoline.S gets in rax and rdx */
	void *function;
	uint64_t window;
};

struct called tp_op_enter(uint32_t index, const uintptr_t *frame) __attribute__((visibility("hidden")));
void tp_op_leave(const uintptr_t *frame) __attribute__((visibility("hidden")));

/*
 * Runs what may touch vector registers (libc's memset, the vDSO) between two calls that must not. Components 0xe7: x87,
 * SSE, AVX, AVX-512, all that carry arguments and results (Intel SDM 13.1); 2,688 bytes at most.
 */
static TP_SLOW void with_vectors_kept(void (*run)(void *), void *context)
{
	uint8_t area[2752] __attribute__((aligned(64)));
	uint32_t low = 0xe7, high = 0;

	for (size_t i = 512; i < 576; i += 8)
		*(volatile uint64_t *)(area + i) = 0; /* the header must be defined */
	__asm__ volatile("xsave64 %0" : "+m"(area) : "a"(low), "d"(high) : "memory");
	run(context);
	__asm__ volatile("xrstor64 %0" : : "m"(area), "a"(low), "d"(high) : "memory");
}

/* Room for three records: what a begin takes, with its work and counters. An end takes less. */
static inline bool has_room(const struct tp_thread *thread)
{
	return thread->limit - thread->at >= 2 * TP_RECORD_MAX;
}

struct slow_enter {
	const uintptr_t *frame;
	struct tp_op_function *function;
	struct tp_thread *thread;
	uint32_t op;
};

static void enter_slowly(void *context)
{
	struct slow_enter *slow = context;
	struct tp_thread *thread = slow->thread;

	if (!thread)
		thread = tp_enter_slow(slow->frame);
	if (!thread)
		return;
	thread->busy = TP_BUSY_RECORD;
	if (thread->fold.pending)
		tp_fold_settle(thread);
	if (!tp_load(&slow->function->op))
		tp_store(&slow->function->op,
			 tp_op_number(slow->function->name, slow->function->category, TPROF_OP_FUNCTION));
	if (!slow->op && slow->function->signature.op)
		slow->op = slow->function->signature.op(slow->frame, true);
	if (!slow->op)
		slow->op = slow->function->op;
	if (has_room(thread) || tp_thread_new_chunk(thread))
		slow->thread = thread;
	else
		tp_leave(thread);
}

static void new_chunk(void *thread)
{
	tp_thread_new_chunk(thread);
}

static inline void make_room(struct tp_thread *thread)
{
	if (tp_unlikely(!has_room(thread)))
		with_vectors_kept(new_chunk, thread);
}

/* Ops whose frames are below this one's are over: an exception or a longjmp went past them. */
static TP_SLOW void end_unwound(struct tp_thread *thread, uintptr_t frame, uint64_t ticks)
{
	while (thread->op_depth > 0 && thread->op_frames[thread->op_depth - 1] < frame &&
	       tp_thread_on_stack(thread, thread->op_frames[thread->op_depth - 1])) {
		thread->fold.scope = thread->op_open[--thread->op_depth].outer;
		make_room(thread);
		tp_emit_op_end(thread, ticks, true);
	}
}

static inline bool has_unwound(const struct tp_thread *thread, uintptr_t frame)
{
	return thread->op_depth > 0 && thread->op_frames[thread->op_depth - 1] < frame;
}

struct slow_caller {
	uintptr_t pc;
	struct tp_frame frame;
};

static void find_caller(void *context)
{
	struct slow_caller *slow = context;

	slow->frame = tp_frame_find(slow->pc, false);
}

/* Bytes above the return address that can be the callee's stack arguments: the rest of the caller's frame. */
static uint64_t window_of(const struct tp_thread *thread, const uintptr_t *frame)
{
	uintptr_t arguments = (uintptr_t)(frame + 2), end = thread->bounds.high;
	struct tp_frame caller;
	uint64_t window;

	if (!tp_frame_known(frame[1], &caller)) {
		struct slow_caller slow = { frame[1], { { 0 }, 0 } };

		with_vectors_kept(find_caller, &slow);
		caller = slow.frame;
	}
	if (caller.rule.kind == TP_RULE_RSP)
		end = arguments + (uintptr_t)(intptr_t)caller.rule.cfa;
	else if (caller.rule.kind == TP_RULE_RBP)
		end = frame[0] + (uintptr_t)(intptr_t)caller.rule.cfa;
	window = end > arguments ? (end - arguments) & ~UINT64_C(15) : 0;
	return window < WINDOW_MAX ? window : WINDOW_MAX;
}

/* Of a typed function it is known. */
static inline uint64_t typed_window(const struct tp_thread *thread, const struct tp_signature *signature,
				    const uintptr_t *frame)
{
	uint64_t window = ((uint64_t)signature->stack * 8 + 15) & ~UINT64_C(15);

	if (tp_likely(signature->stack_known && (uintptr_t)(frame + 2) + window <= thread->bounds.high))
		return window;
	return window_of(thread, frame);
}

/* No thread to ask: as much as there surely is, up to the end of the page's mapping that holds the frame. */
static uint64_t unknown_window(const uintptr_t *frame)
{
	uintptr_t arguments = (uintptr_t)(frame + 2);
	uint64_t page = TP_PAGE - (arguments & (TP_PAGE - 1));

	return (page < WINDOW_MAX ? page : WINDOW_MAX) & ~UINT64_C(15);
}

/* Writes the call's begin, or, if the op is hot, only notes that it began. */
static inline void begin(struct tp_thread *thread, const struct tp_op_function *function, uint32_t op, uint64_t ticks)
{
	struct tp_open_op *open = &thread->op_open[thread->op_depth];
	struct tp_fold *fold = &thread->fold;

	open->start = ticks;
	open->outer = fold->scope;
	open->ends_step = function->ends_step;
	open->after = function->signature.after;
	open->slot = tp_fold_find(fold, op, &open->key);
	if (open->slot->key == open->key && open->slot->heat >= TP_FOLD_HOT && !open->ends_step && !open->after &&
	    !thread->perf.count) {
		tp_fold_begin(thread, open->slot, op, ticks);
		return;
	}
	tp_emit_op(thread, ticks, op);
	if (fold->work.kind)
		tp_emit_work(thread, ticks, &fold->work);
	open->events = thread->events;
	fold->scope = ++fold->scopes;
}

struct called tp_op_enter(uint32_t index, const uintptr_t *frame)
{
	struct tp_op_function *function = &tp_op_functions[index];
	struct called called = { .function = function->address };
	struct tp_thread *thread = tp_self;
	bool ready = thread && tp_load(&tp_state.mode) == TP_MODE_ON && !thread->busy &&
		     tp_thread_on_stack(thread, (uintptr_t)frame);
	uint32_t op = function->op;
	uint64_t ticks;

	if (tp_unlikely(function->signature.op != NULL))
		op = function->signature.op(frame, false);
	if (tp_unlikely(!ready && thread && tp_load(&tp_state.mode) == TP_MODE_PAUSED && !tp_control_waits())) {
		called.window = window_of(thread, frame);
		return called;
	}
	if (ready) {
		thread->busy_frame = (uintptr_t)frame;
		thread->busy_return = frame[1];
		__atomic_signal_fence(__ATOMIC_RELEASE);
		thread->busy = TP_BUSY_RECORD;
		if (tp_unlikely(thread->fold.pending))
			tp_fold_settle(thread);
	}
	if (tp_unlikely(!ready || !op || !has_room(thread))) {
		struct slow_enter slow = { frame, function, ready ? thread : NULL, op };

		with_vectors_kept(enter_slowly, &slow);
		thread = slow.thread;
		op = slow.op;
	}
	if (tp_unlikely(!thread || thread->op_depth == TP_OPS_MAX || op == TP_OP_SILENT)) {
		called.window = thread ? window_of(thread, frame) : unknown_window(frame);
		if (thread)
			tp_leave(thread);
		return called;
	}
	tp_typed_read(&function->signature, frame, &thread->fold.work);
	called.window = typed_window(thread, &function->signature, frame);
	ticks = tp_clock_before();
	if (tp_unlikely(has_unwound(thread, (uintptr_t)frame)))
		end_unwound(thread, (uintptr_t)frame, ticks);
	begin(thread, function, op, ticks);
	thread->op_frames[thread->op_depth++] = (uintptr_t)frame;
	if (tp_unlikely(function->signature.begun != NULL))
		function->signature.begun((uintptr_t *)(uintptr_t)frame);
	tp_leave(thread);
	return called;
}

struct slow_after {
	void (*after)(const uintptr_t *frame);
	const uintptr_t *frame;
};

static void run_after(void *context)
{
	struct slow_after *slow = context;

	slow->after(slow->frame);
}

/* The thread's innermost op ends. */
static inline void end(struct tp_thread *thread, const uintptr_t *frame, uint64_t ticks)
{
	struct tp_open_op *open = &thread->op_open[--thread->op_depth];

	thread->fold.scope = open->outer;
	tp_fold_warm(open->slot, open->key, open->start, ticks, open->events == thread->events);
	tp_emit_op_end(thread, ticks, false);
	if (tp_unlikely(open->ends_step)) {
		make_room(thread);
		tp_emit_step(thread, ticks, 0);
		tp_fold_close(&thread->fold);
	}
	if (tp_unlikely(open->after != NULL)) {
		struct slow_after slow = { open->after, frame };

		with_vectors_kept(run_after, &slow);
	}
}

/* A call was pending. True: it was this one, and it is counted. */
static inline bool end_pending(struct tp_thread *thread, uintptr_t frame, uint64_t ticks)
{
	if (tp_unlikely(thread->op_frames[thread->op_depth - 1] != frame)) {
		tp_fold_settle(thread);
		return false;
	}
	if (tp_unlikely(!tp_fold_end(thread, ticks)))
		return false;
	thread->op_depth--;
	return true;
}

/* An op that was recorded has its end recorded, though recording has been paused meanwhile. */
static bool ends_in_pause(const struct tp_thread *thread, uintptr_t frame)
{
	return tp_load(&tp_state.mode) == TP_MODE_PAUSED && thread->op_depth > 0 &&
	       thread->op_frames[thread->op_depth - 1] == frame;
}

void tp_op_leave(const uintptr_t *frame)
{
	struct tp_thread *thread = tp_self;
	uint64_t ticks;

	if (!thread || thread->busy)
		return;
	if (tp_load(&tp_state.mode) != TP_MODE_ON && !ends_in_pause(thread, (uintptr_t)frame))
		return;
	ticks = tp_clock_before();
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = frame[1];
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->busy = TP_BUSY_RECORD;
	if (thread->fold.pending && end_pending(thread, (uintptr_t)frame, ticks)) {
		tp_leave(thread);
		return;
	}
	make_room(thread);
	if (tp_unlikely(has_unwound(thread, (uintptr_t)frame)))
		end_unwound(thread, (uintptr_t)frame, ticks);
	if (thread->op_depth > 0 && thread->op_frames[thread->op_depth - 1] == (uintptr_t)frame)
		end(thread, frame, ticks);
	tp_leave(thread);
}
