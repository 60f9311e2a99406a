/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a hook begins and ends. Between tp_enter() and tp_leave() the thread is busy: calls that the real function makes
 * belong to this event, and a signal handler finds the recording closed.
 */
#ifndef TPROF_GATE_ENTER_H
#define TPROF_GATE_ENTER_H

#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "hooks/python/stack.h"
#include "stacks/verify.h"
#include "stacks/walk.h"

TP_SLOW struct tp_thread *tp_enter_slow(const void *frame);

/*
 * The same of a hook that was given pointers to blocks (hooks/leakcheck/leak_snapshot.h): in a pause a request is carried out before the program's
 * call is.
 */
struct tp_hand;
TP_SLOW struct tp_thread *tp_enter_slow_given(const void *frame, const struct tp_hand *hand);

/* tp_enter(), where all is well. */
static inline struct tp_thread *tp_enter_at_once(const void *frame)
{
	struct tp_thread *thread = tp_self;

	if (tp_unlikely(!thread || tp_load(&tp_state.mode) != TP_MODE_ON || thread->busy ||
			!tp_thread_on_stack(thread, (uintptr_t)frame)))
		return NULL;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with a handler: who is busy is known before that he is */
	thread->busy = TP_BUSY_REAL;
	return thread;
}

/*
 * The calling thread, or NULL: do not record, just call the real function. Starts the recording at the process's very
 * first call. `frame` is the exported hook's __builtin_frame_address(0). Six loads and four branches when all is well.
 */
static inline struct tp_thread *tp_enter(const void *frame)
{
	struct tp_thread *thread = tp_enter_at_once(frame);

	return tp_likely(thread) ? thread : tp_enter_slow(frame);
}

TP_SLOW struct tp_thread *tp_enter_paused(const void *frame);

/* While recording is off, and could be switched on. */
TP_SLOW struct tp_thread *tp_enter_off(const void *frame);

/*
 * As tp_enter(), for what ends something: also while recording is paused (tp_pause()), as what was recorded before is
 * followed to its end.
 */
static inline struct tp_thread *tp_enter_end(const void *frame)
{
	struct tp_thread *thread = tp_enter(frame);

	return tp_likely(thread) ? thread : tp_enter_paused(frame);
}

TP_SLOW struct tp_thread *tp_enter_end_slow(const void *frame, const void *block);

/* tp_enter_end() of a hook that was given a block. */
static inline struct tp_thread *tp_enter_end_of(const void *frame, const void *block)
{
	struct tp_thread *thread = tp_enter_at_once(frame);

	return tp_likely(thread) ? thread : tp_enter_end_slow(frame, block);
}

/*
 * The same in two steps, for the functions that are called most. Is anything to be done at all? If not, or if the second
 * step says no too, tp_enter_slow() knows what. Ten instructions.
 */
TP_HOT bool tp_is_open(const struct tp_thread *thread)
{
	return tp_likely(thread && tp_load(&tp_state.mode) == TP_MODE_ON && !thread->busy);
}

/* Enters, if the shortest way can be taken (core/thread.h). Eight instructions. */
TP_HOT bool tp_enters(struct tp_thread *thread, const void *frame)
{
	if (tp_unlikely((uintptr_t)frame - thread->bounds.low >= thread->hot_extent))
		return false;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->busy = TP_BUSY_REAL;
	return true;
}

/* Counts n events of a call for which tp_enter() said NULL, if that is a loss: recording was stopped. */
void tp_unrecorded(uint32_t n);

/*
 * The same around a real function that may call hooked ones, which count themselves then: one event, if none of them did.
 * `before` is tp_unrecorded_calls from before the call.
 */
extern TP_TLS uint32_t tp_unrecorded_calls;
void tp_unrecorded_around(uint32_t before);

static inline void tp_leave(struct tp_thread *thread)
{
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with a handler on this thread: the event is whole */
	thread->busy = TP_IDLE;
}

/* Begins recording an event. The real function is over, or not yet called. */
static inline void tp_record(struct tp_thread *thread, uint64_t ticks)
{
	thread->event_start = ticks;
	thread->busy = TP_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
}

/* A memory sample with a step's end, unless one was taken less than a millisecond ago. Recording (TP_BUSY_RECORD). */
TP_SLOW void tp_recorded_step(struct tp_thread *thread);

/* Once an event, however many reasons there are: it times the event if it is one of those (core/timed.h). */
TP_SLOW void tp_recorded_slow(struct tp_thread *thread);

/* The same of an event that is a signal handler's; `context` is its ucontext_t. */
TP_SLOW void tp_recorded_interrupted_slow(struct tp_thread *thread, const void *context);

/* Ends it. One event in 64 is timed, for the report's estimate of what tprof cost. */
static inline void tp_recorded(struct tp_thread *thread)
{
	if (tp_unlikely(tp_timed_due(&thread->timed, thread->events) ||
			thread->event_start >= tp_load(&tp_state.next_memory_sample)))
		tp_recorded_slow(thread);
}

/*
 * tp_recorded() in a function that the program called itself, and that may call others: unlike the hook of an op, which keeps
 * vector registers by not touching them.
 */
enum tp_called {
	TP_CALLED_ALLOC, /* of thread->last_block, which the program does not have yet */
	TP_CALLED_FREE,	 /* its cost is told apart from the others' */
	TP_CALLED_MOVE,	 /* a FREE whose block is to be reallocated */
};
TP_SLOW void tp_recorded_called_slow(struct tp_thread *thread, enum tp_called what, const void *block);

/* `block`: of TP_CALLED_MOVE. */
static inline void tp_recorded_called(struct tp_thread *thread, enum tp_called what, const void *block)
{
	if (tp_unlikely(tp_timed_due(&thread->timed, thread->events) ||
			thread->event_start >= tp_load(&tp_state.next_memory_sample)))
		tp_recorded_called_slow(thread, what, block);
}

/* Is there more to be done at an event's end? */
TP_HOT bool tp_recorded_due(const struct tp_thread *thread, uint64_t ticks)
{
	return tp_timed_due(&thread->timed, thread->events) || ticks >= tp_load(&tp_state.next_memory_sample);
}

/* tp_recorded_called(), with what tp_record() was told. */
TP_HOT void tp_recorded_hot(struct tp_thread *thread, uint64_t ticks, enum tp_called what, const void *block)
{
	if (tp_unlikely(tp_recorded_due(thread, ticks))) {
		thread->event_start = ticks;
		tp_recorded_called_slow(thread, what, block);
	}
}

/* The node of the stack of the hook's caller. */
static inline uint32_t tp_caller_stack(struct tp_thread *thread, const void *frame)
{
	uint32_t node = tp_unlikely(tp_load_acquire(&tp_python_on)) ? tp_python_stack(thread, frame, 0)
								    : tp_walk(thread, frame);

	tp_verify_walk(thread, tp_walk_caller(frame));
	return node;
}

#endif
