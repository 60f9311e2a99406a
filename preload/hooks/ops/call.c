/* SPDX-License-Identifier: Apache-2.0 */
/* Called by trampoline.S before and after a hooked function. */
#include "core/fold.h"
#include "core/scope.h"
#include "core/usage.h"
#include "hooks/gate/control.h"
#include "hooks/gate/enter.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/ops/hot.h"
#include "hooks/ops/unwound.h"
#include "hooks/ops/names.h"
#include "hooks/ops/shapes.h"
#include "hooks/ops/waits.h"
#include "stacks/recall.h"

#define TPC_KEPT_ARGUMENTS 8 /* registers that the trampoline keeps below its frame */

struct called { /* what trampoline.S gets in rax and rdx */
	void *function;
	uint64_t window;
};

/*
 * A call begins. The first is for a thread that is recording already (TPC_BUSY_RECORD); the other finds the thread, and
 * whether to record.
 */
struct called tpc_op_begin(uint32_t index, const uintptr_t *frame, struct tpc_thread *thread)
	__attribute__((visibility("hidden")));
struct called tpc_op_enter(uint32_t index, const uintptr_t *frame) __attribute__((visibility("hidden")));

/* A call ends; again one for each case. */
void tpc_op_end(const uintptr_t *frame, struct tpc_thread *thread) __attribute__((visibility("hidden")));
void tpc_op_leave(const uintptr_t *frame) __attribute__((visibility("hidden")));

/* Room for three records, as a begin takes with its work and counters. An end takes less. */
static inline bool has_room(const struct tpc_thread *thread)
{
	return thread->limit - thread->at >= 2 * TPC_RECORD_MAX;
}

/* Makes room: mostly by a new chunk; but the chunk may only have looked full. False: recording has stopped. */
static bool find_room(struct tpc_thread *thread)
{
	return has_room(thread) || (tpc_thread_new_chunk(thread) && (has_room(thread) || tpc_thread_new_chunk(thread)));
}

/* No room for any record: in a full ring, or once recording has stopped. */
static bool has_none(const struct tpc_thread *thread)
{
	return thread->at >= thread->limit;
}

static void find_room_apart(void *thread)
{
	find_room(thread);
}

static inline void make_room(struct tpc_thread *thread)
{
	if (tpc_unlikely(!has_room(thread)))
		tpc_with_vectors_kept(find_room_apart, thread);
}

/* ---- a call begins ---- */

/* Ends the ops whose frames are below `sp`: a longjmp has left them. At `sp` - 1 another call has taken the place. */
static TPC_SLOW void end_unwound(struct tpc_thread *thread, uintptr_t sp, uint64_t ticks)
{
	while (thread->op_depth > 0 && thread->fold.outer < sp && tpc_op_is_over(thread, sp & ~(uintptr_t)1)) {
		make_room(thread);
		tpc_ops_end_innermost(thread, ticks, true);
	}
}

static inline bool has_unwound(const struct tpc_thread *thread, uintptr_t sp)
{
	return thread->fold.outer < sp;
}

/* Writes the work of the call after its begin, with the same time. */
static inline uint8_t *put_work(uint8_t *at, const struct tpc_work *work)
{
	uint8_t *p;

	at[0] = TPROF_EVENT_WORK << 2;
	at[2] = 0; /* time since the begin */
	p = tpc_put_work(at + 3, work);
	tpc_put_length(at + 1, p);
	return p;
}

/*
 * Writes the begin, and the work if the call is typed; there is room for both. The caller commits them when it opens
 * the op.
 */
static inline uint8_t *put_begin(struct tpc_thread *thread, uint64_t ticks, uint32_t op)
{
	const struct tpc_work *work = &thread->fold.work;
	uint8_t *p;

	if (tpc_unlikely(thread->perf.count))
		ticks = tpc_counters_emit(thread, ticks);
	*thread->at = TPROF_CLASS_OP;
	p = tpc_emit_passed(thread, thread->at + 1, ticks >> tpc_emit_shift);
	p = tpc_put_short(p, op);
	if (work->kind) {
		p = put_work(p, work);
		thread->events++;
	}
	return p;
}

/* The stamp in the call's frame, for stacks/recall.h. */
static uint64_t *stamp_of(const uintptr_t *frame)
{
	return (uint64_t *)((uintptr_t)frame - TPC_RECALL_STAMP);
}

/* Records a call: writes its begin, or, if the op is hot, notes that it began. */
static inline void begin(struct tpc_thread *thread, uint32_t index, uint32_t op, const uintptr_t *frame,
			 struct tpc_window window)
{
	const struct tpc_op_function *function = &tpc_op_functions[index];
	uint64_t ticks = tpc_clock_before(), shape;
	struct tpc_fold_slot *slot = tpc_fold_find(&thread->fold, op, &shape);
	struct tpc_open_op *open;
	uint8_t *end;

	if (tpc_fold_is_hot(&thread->fold, slot, shape) && !function->ends_step && !function->signature.after &&
	    (!function->signature.ended || function->signature.idle) && !tpc_load(&function->signature.learns) &&
	    !thread->perf.count) {
		tpc_hot_begin(thread, &(struct tpc_hot_call){ index, op, frame, window, slot, shape, ticks });
		return;
	}
	end = put_begin(thread, ticks, op);
	open = tpc_scope_next(thread, (uintptr_t)frame);
	open->start = ticks;
	open->shape = shape;
	open->slot = slot;
	open->ending = tpc_load(&function->ending);
	tpc_scope_open(thread, open, end);
	open->events = thread->events;
	*stamp_of(frame) = thread->fold.scope | (uint32_t)ticks;
}

/* The op that the call is, according to the signature; `own`: the number of the function's own op. */
static inline uint32_t told_op(const struct tpc_signature *signature, const uintptr_t *frame, bool may_write,
			       uint32_t own)
{
	uint32_t op = signature->op(frame, may_write);

	return op == TPC_OP_OWN ? own : op;
}

struct slow_begin {
	struct tpc_op_function *function;
	const uintptr_t *frame;
	struct tpc_thread *thread; /* set to NULL if the call can't be recorded */
	uint32_t op;
};

/* Gives the op a number, and the thread a chunk with room. */
static void prepare(void *context)
{
	struct slow_begin *slow = context;
	struct tpc_op_function *function = slow->function;

	if (!tpc_load(&function->op))
		tpc_store(&function->op, tpc_op_number(function->name, function->category, TPROF_OP_FUNCTION));
	if (!slow->op && function->signature.op)
		slow->op = told_op(&function->signature, slow->frame, true, 0);
	if (!slow->op && tpc_load_acquire(&function->signature.shaped))
		slow->op = tpc_shapes_number(function, slow->frame);
	if (!slow->op)
		slow->op = tpc_load(&function->op);
	if (!find_room(slow->thread)) {
		tpc_leave(slow->thread);
		slow->thread = NULL;
	}
}

static void note_now(void *context)
{
	struct slow_begin *slow = context;

	tpc_shapes_begun(slow->function, slow->frame);
}

static TPC_SLOW void note(struct tpc_op_function *function, const uintptr_t *frame)
{
	struct slow_begin slow = { .function = function, .frame = frame };

	tpc_with_vectors_kept(note_now, &slow);
}

/* ---- prefetching for the next op ---- */

/* Ticks, some 10 microseconds: in a longer call the program's own data may have evicted everything else from the caches. */
#define LONG 32768u

/* Prefetches what the thread's next op reads first, as far as that is known. */
static inline void fetch_next(const struct tpc_thread *thread)
{
	__builtin_prefetch(&tpc_op_functions[thread->ops.next >> TPC_SHAPES_BITS]);
	tpc_shapes_fetch(thread->ops.next & ((1u << TPC_SHAPES_BITS) - 1));
}

/* After a long call: prefetches what the thread's next event reads, be it an op or an allocation. */
static TPC_APART void fetch_again(const struct tpc_thread *thread)
{
	fetch_next(thread);
	tpc_walk_fetch(thread);
	if (tpc_load_acquire(&tpc_python_on))
		tpc_python_fetch(thread);
}

/* An op begins, with the shapes found at that place. */
static inline void go_on(struct tpc_thread *thread, uint32_t index, uint32_t place)
{
	tpc_predictor_go_on(&thread->ops, thread->ops_log, index << TPC_SHAPES_BITS | place);
	fetch_next(thread);
}

struct called tpc_op_begin(uint32_t index, const uintptr_t *frame, struct tpc_thread *thread)
{
	struct tpc_op_function *function = &tpc_op_functions[index];
	const struct tpc_signature *signature = &function->signature;
	struct tpc_shape_found found = { tpc_load(&function->op), 0 };
	struct tpc_window window;
	uint32_t op;

	if (tpc_unlikely(signature->op != NULL)) {
		found.op = told_op(signature, frame, false, found.op);
		if (found.op == TPC_OP_SILENT) {
			tpc_leave(thread);
			return (struct called){ function->address, TPC_WINDOW_PASS };
		}
		if (found.op == TPC_OP_WAITS) {
			tpc_leave(thread);
			return (struct called){ function->address, 0 };
		}
	}
	if (tpc_unlikely(thread->fold.frame))
		tpc_fold_settle(thread);
	window = tpc_window_of(thread, signature, frame);
	if (tpc_load_acquire(&signature->shaped) && found.op) /* pairs with shapes.c: `parts` are final */
		found = tpc_shapes_find(signature, index, frame);
	go_on(thread, index, found.place);
	op = found.op;
	if (tpc_unlikely(!op || !has_room(thread))) {
		struct slow_begin slow = { function, frame, thread, op };

		tpc_with_vectors_kept(prepare, &slow);
		op = slow.op;
		if (!slow.thread)
			return (struct called){ function->address, TPC_WINDOW_PASS };
	}
	/* A call that was left may have had this very frame: this call is there now. */
	if (tpc_unlikely(has_unwound(thread, (uintptr_t)frame + 1))) {
		end_unwound(thread, (uintptr_t)frame + 1, tpc_clock_before());
		if (has_none(thread)) {
			tpc_leave(thread);
			return (struct called){ function->address, TPC_WINDOW_PASS };
		}
	}
	if (tpc_likely(thread->op_depth < TPC_OPS_MAX)) {
		if (tpc_unlikely(tpc_load(&signature->learns)))
			note(function, frame);
		tpc_typed_read(signature, frame, &thread->fold.work);
		begin(thread, index, op, frame, window);
		if (tpc_unlikely(signature->begun != NULL))
			signature->begun(signature, (uintptr_t *)(uintptr_t)frame);
	} else {
		tpc_lost(TPROF_LOST_OP_DEPTH, 1);
	}
	tpc_leave(thread);
	return (struct called){ function->address, window.bytes };
}

struct slow_enter {
	const uintptr_t *frame;
	struct tpc_thread *thread;
};

static void enter(void *context)
{
	struct slow_enter *slow = context;
	const uint64_t *arguments = (const uint64_t *)slow->frame - TPC_KEPT_ARGUMENTS; /* trampoline.S draws them */

	slow->thread = tpc_enter_slow_given(slow->frame,
					    &(struct tpc_hand){ .words = arguments, .count = TPC_KEPT_ARGUMENTS });
}

struct called tpc_op_enter(uint32_t index, const uintptr_t *frame)
{
	struct slow_enter slow = { .frame = frame };

	tpc_with_vectors_kept(enter, &slow);
	if (slow.thread) {
		slow.thread->busy = TPC_BUSY_RECORD;
		return tpc_op_begin(index, frame, slow.thread);
	}
	return (struct called){ tpc_op_functions[index].address, TPC_WINDOW_PASS };
}

/* ---- it ends ---- */

struct slow_after {
	void (*after)(const uintptr_t *frame);
	const uintptr_t *frame;
};

static void run_after(void *context)
{
	struct slow_after *slow = context;

	slow->after(slow->frame);
}

struct slow_learn {
	struct tpc_op_function *function;
	const uintptr_t *frame;
	uint32_t op;
};

static void learn(void *context)
{
	struct slow_learn *slow = context;

	slow->op = tpc_shapes_returned(slow->function, slow->frame);
}

/* Its shapes are known only now. */
static void end_learning(struct tpc_thread *thread, const struct tpc_op_function *function, const uintptr_t *frame,
			 uint64_t ticks)
{
	struct slow_learn slow = { &tpc_op_functions[function - tpc_op_functions], frame, 0 };

	tpc_with_vectors_kept(learn, &slow);
	if (slow.op)
		tpc_emit_shape(thread, ticks, slow.op);
	make_room(thread);
}

TPC_HOT void put_end(struct tpc_thread *thread, const struct tpc_open_op *open, uint64_t ticks)
{
	uint8_t *at = thread->at;

	if (tpc_unlikely(thread->perf.count)) {
		tpc_scope_end(thread, ticks, false);
		return;
	}
	*at = TPROF_CLASS_OP | TPROF_OP_END;
	tpc_scope_shut(thread, open, tpc_emit_passed(thread, at + 1, ticks >> tpc_emit_shift));
}

/* Ends an op whose end takes more than an event. */
static TPC_SLOW void end_with_more(struct tpc_thread *thread, const struct tpc_op_function *function,
				   const uintptr_t *frame, uint64_t ticks)
{
	void (*run)(const uintptr_t *) = function->signature.after;
	uint64_t after = ticks;

	if (tpc_load(&function->signature.learns))
		end_learning(thread, function, frame, ticks);
	if (function->signature.ended) {
		function->signature.ended(&function->signature, frame, ticks);
		make_room(thread);
	}
	if (function->signature.tells_usage) {
		after = tpc_usage_emit(thread, ticks);
		make_room(thread);
	}
	tpc_scope_end(thread, ticks, false);
	if (function->ends_step) {
		make_room(thread);
		tpc_emit_step(thread, after, 0);
		tpc_fold_close(&thread->fold);
	}
	if (run)
		tpc_with_vectors_kept(run_after, &(struct slow_after){ run, frame });
}

/*
 * One that asks whether something is there. Those that find nothing become hot at once, and those that find something, caused an event,
 * or were long change nothing.
 */
static TPC_SLOW void warm_poll(struct tpc_thread *thread, const struct tpc_open_op *open, const uintptr_t *frame,
			       uint64_t ticks)
{
	const struct tpc_signature *signature = &((const struct tpc_op_function *)open->ending)->signature;
	bool again = tpc_fold_is_again(open->slot, open->shape, open->start);

	if (open->events != thread->events || ticks - open->start >= TPC_FOLD_POLL_TICKS ||
	    !signature->idle(signature, frame))
		return;
	tpc_fold_warm_short(&thread->fold, open->slot, open->shape, open->start, ticks);
	if (again && open->slot->heat < TPC_FOLD_HOT)
		tpc_fold_heat(&thread->fold, open->slot, TPC_FOLD_HOT);
}

/* Ends the thread's innermost op. */
TPC_HOT void end(struct tpc_thread *thread, const uintptr_t *frame, uint64_t ticks)
{
	const struct tpc_open_op *open = &thread->op_open[thread->op_depth - 1];
	const struct tpc_op_function *function = open->ending;

	if (tpc_unlikely(function && function->signature.idle))
		warm_poll(thread, open, frame, ticks);
	else
		tpc_fold_warm(&thread->fold, open->slot, open->shape, open->start, ticks,
			      open->events == thread->events);
	if (ticks - open->start >= LONG)
		fetch_again(thread);
	if (tpc_unlikely(function != NULL))
		end_with_more(thread, function, frame, ticks);
	else
		put_end(thread, open, ticks);
}

static bool is_open(const struct tpc_thread *thread, uintptr_t frame)
{
	for (uint32_t i = thread->op_depth; i-- > 0;)
		if (thread->op_open[i].frame == frame)
			return true;
	return false;
}

/*
 * Ends an op that is not the innermost, or a call that is no op, but may have waited: a coroutine was switched to within a call,
 * and back within another. Ops that began later on other stacks are considered over, too; when they do end, they are not found.
 */
static TPC_SLOW void end_before_others(struct tpc_thread *thread, const uintptr_t *frame, uint64_t ticks)
{
	if (!is_open(thread, (uintptr_t)frame)) {
		tpc_waits_ended(thread, frame, ticks);
		return;
	}
	while (thread->fold.outer != (uintptr_t)frame) {
		make_room(thread);
		tpc_ops_end_innermost(thread, ticks, false);
	}
	make_room(thread);
	if (has_none(thread))
		tpc_scope_end(thread, ticks, false);
	else
		end(thread, frame, ticks);
}

/* Does the pending call, which has returned, need events of its own? */
static bool is_eventful(const struct tpc_thread *thread, const uintptr_t *frame)
{
	const struct tpc_op_function *function = tpc_fold_ending(thread->fold.hot);

	return function && !function->signature.idle(&function->signature, frame);
}

/* A call is pending. True: it was this one, and is counted. */
static TPC_APART bool end_pending(struct tpc_thread *thread, const uintptr_t *frame, uint64_t ticks)
{
	if ((thread->fold.frame & ~(uintptr_t)1) != (uintptr_t)frame)
		return false;
	if (tpc_unlikely(is_eventful(thread, frame))) {
		tpc_fold_settle(thread);
		return false;
	}
	return tpc_fold_end(thread, ticks);
}

/*
 * Makes room for the end of the call with that frame, as when another call is still pending, or an exception left some; and
 * ends ops that were left within it. False: there is no room.
 */
static TPC_SLOW bool prepare_end(struct tpc_thread *thread, uintptr_t frame, uint64_t ticks)
{
	thread->fold.ending = frame;
	make_room(thread);
	thread->fold.ending = 0;
	if (has_unwound(thread, frame))
		end_unwound(thread, frame, ticks);
	return !has_none(thread);
}

void tpc_op_end(const uintptr_t *frame, struct tpc_thread *thread)
{
	uint64_t ticks = tpc_clock_before();

	if (tpc_unlikely(thread->fold.frame) && end_pending(thread, frame, ticks)) {
		tpc_leave(thread);
		return;
	}
	if (tpc_unlikely((!has_room(thread) || has_unwound(thread, (uintptr_t)frame)) &&
			 !prepare_end(thread, (uintptr_t)frame, ticks)) ||
	    tpc_unlikely(thread->fold.outer != (uintptr_t)frame))
		end_before_others(thread, frame, ticks);
	else
		end(thread, frame, ticks);
	tpc_leave(thread);
}

/* The end of a recorded op is recorded even if recording has been paused meanwhile. */
static bool ends_in_pause(const struct tpc_thread *thread, uintptr_t frame)
{
	return tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED &&
	       (thread->fold.outer == frame || (thread->fold.frame & ~(uintptr_t)1) == frame);
}

void tpc_op_leave(const uintptr_t *frame)
{
	struct tpc_thread *thread = tpc_self;

	if (!thread || thread->busy)
		return;
	if (tpc_load(&tpc_state.mode) != TPC_MODE_ON && !ends_in_pause(thread, (uintptr_t)frame))
		return;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = frame[1];
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->busy = TPC_BUSY_RECORD;
	tpc_op_end(frame, thread);
}
