/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a hook begins and ends. Between tpc_enter() and tpc_leave() the thread is busy: calls that the real function makes
 * belong to this event, and a signal handler finds the recording closed.
 */
#ifndef TPROF_GATE_ENTER_H
#define TPROF_GATE_ENTER_H

#include "core/assert.h"
#include "core/clock.h"
#include "core/emit.h"
#include "core/state.h"
#include "hooks/python/stack.h"
#include "stacks/verify.h"
#include "stacks/walk.h"

TPC_SLOW struct tpc_thread *tpc_enter_slow(const void *frame);

/*
 * The same of a hook that was given pointers to blocks (hooks/leakcheck/leak_snapshot.h): in a pause a request is carried out before the program's
 * call is.
 */
struct tpc_hand;
TPC_SLOW struct tpc_thread *tpc_enter_slow_given(const void *frame, const struct tpc_hand *hand);

/* tpc_enter(), where all is well. */
static inline struct tpc_thread *tpc_enter_at_once(const void *frame)
{
	struct tpc_thread *thread = tpc_self;

	if (tpc_unlikely(!thread || tpc_load(&tpc_state.mode) != TPC_MODE_ON || thread->busy ||
			 !tpc_thread_on_stack(thread, (uintptr_t)frame)))
		return NULL;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with a handler: who is busy is known before that he is */
	thread->busy = TPC_BUSY_REAL;
	return thread;
}

/*
 * The calling thread, or NULL: do not record, just call the real function. Starts the recording at the process's very
 * first call. `frame` is the exported hook's __builtin_frame_address(0). Six loads and four branches when all is well.
 */
static inline struct tpc_thread *tpc_enter(const void *frame)
{
	struct tpc_thread *thread = tpc_enter_at_once(frame);

	return tpc_likely(thread) ? thread : tpc_enter_slow(frame);
}

TPC_SLOW struct tpc_thread *tpc_enter_paused(const void *frame);

/* While recording is off, and could be switched on. */
TPC_SLOW struct tpc_thread *tpc_enter_off(const void *frame);

/*
 * As tpc_enter(), for what ends something: also while recording is paused (tpc_pause()), as what was recorded before is
 * followed to its end.
 */
static inline struct tpc_thread *tpc_enter_end(const void *frame)
{
	struct tpc_thread *thread = tpc_enter(frame);

	return tpc_likely(thread) ? thread : tpc_enter_paused(frame);
}

TPC_SLOW struct tpc_thread *tpc_enter_end_slow(const void *frame, const void *block);

/* tpc_enter_end() of a hook that was given a block. */
static inline struct tpc_thread *tpc_enter_end_of(const void *frame, const void *block)
{
	struct tpc_thread *thread = tpc_enter_at_once(frame);

	return tpc_likely(thread) ? thread : tpc_enter_end_slow(frame, block);
}

/*
 * The same in two steps, for the functions that are called most. Is anything to be done at all? If not, or if the second
 * step says no too, tpc_enter_slow() knows what. Ten instructions.
 */
TPC_HOT bool tpc_is_open(const struct tpc_thread *thread)
{
	return tpc_likely(thread && tpc_load(&tpc_state.mode) == TPC_MODE_ON && !thread->busy);
}

/* Enters, if the shortest way can be taken (core/thread.h). Eight instructions. */
TPC_HOT bool tpc_enters(struct tpc_thread *thread, const void *frame)
{
	if (tpc_unlikely((uintptr_t)frame - thread->bounds.low >= thread->hot_extent))
		return false;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->busy = TPC_BUSY_REAL;
	return true;
}

/* Counts n events of a call for which tpc_enter() said NULL, if that is a loss: recording was stopped. */
void tpc_unrecorded(uint32_t n);

/*
 * The same around a real function that may call hooked ones, which count themselves then: one event, if none of them did.
 * `before` is tpc_unrecorded_calls from before the call.
 */
extern TPC_TLS uint32_t tpc_unrecorded_calls;
void tpc_unrecorded_around(uint32_t before);

static inline void tpc_leave(struct tpc_thread *thread)
{
	tpc_assert(thread == tpc_self);
	__atomic_signal_fence(__ATOMIC_RELEASE); /* with a handler on this thread: the event is whole */
	thread->busy = TPC_IDLE;
}

/* Begins recording an event. The real function is over, or not yet called. */
static inline void tpc_record(struct tpc_thread *thread, uint64_t ticks)
{
	tpc_assert(thread == tpc_self && thread->busy != TPC_BUSY_RECORD); /* events do not nest */
	thread->event_start = ticks;
	thread->busy = TPC_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
}

/* A memory sample with a step's end, unless one was taken less than a millisecond ago. Recording (TPC_BUSY_RECORD). */
TPC_SLOW void tpc_recorded_step(struct tpc_thread *thread);

/* Once an event, however many reasons there are: it times the event if it is one of those (core/timed.h). */
TPC_SLOW void tpc_recorded_slow(struct tpc_thread *thread);

/* The same of an event that is a signal handler's; `context` is its ucontext_t. */
TPC_SLOW void tpc_recorded_interrupted_slow(struct tpc_thread *thread, const void *context);

/* Ends it. One event in 64 is timed, for the report's estimate of what tprof cost. */
static inline void tpc_recorded(struct tpc_thread *thread)
{
	if (tpc_unlikely(tpc_timed_due(&thread->timed, thread->events) ||
			 thread->event_start >= tpc_load(&tpc_state.next_memory_sample)))
		tpc_recorded_slow(thread);
}

/*
 * tpc_recorded() in a function that the program called itself, and that may call others: unlike the hook of an op, which keeps
 * vector registers by not touching them.
 */
enum tpc_called {
	TPC_CALLED_ALLOC, /* of thread->last_block, which the program does not have yet */
	TPC_CALLED_FREE,  /* its cost is told apart from the others' */
	TPC_CALLED_MOVE,  /* a FREE whose block is to be reallocated */
};
TPC_SLOW void tpc_recorded_called_slow(struct tpc_thread *thread, enum tpc_called what, const void *block);

/* `block`: of TPC_CALLED_MOVE. */
static inline void tpc_recorded_called(struct tpc_thread *thread, enum tpc_called what, const void *block)
{
	if (tpc_unlikely(tpc_timed_due(&thread->timed, thread->events) ||
			 thread->event_start >= tpc_load(&tpc_state.next_memory_sample)))
		tpc_recorded_called_slow(thread, what, block);
}

/* Is there more to be done at an event's end? */
TPC_HOT bool tpc_recorded_due(const struct tpc_thread *thread, uint64_t ticks)
{
	return tpc_timed_due(&thread->timed, thread->events) || ticks >= tpc_load(&tpc_state.next_memory_sample);
}

/* tpc_recorded_called(), with what tpc_record() was told. */
TPC_HOT void tpc_recorded_hot(struct tpc_thread *thread, uint64_t ticks, enum tpc_called what, const void *block)
{
	if (tpc_unlikely(tpc_recorded_due(thread, ticks))) {
		thread->event_start = ticks;
		tpc_recorded_called_slow(thread, what, block);
	}
}

/* The node of the stack of the hook's caller. */
static inline uint32_t tpc_caller_stack(struct tpc_thread *thread, const void *frame)
{
	uint32_t node = tpc_unlikely(tpc_load_acquire(&tpc_python_on)) ? tpc_python_stack(thread, frame, 0)
								       : tpc_walk(thread, frame);

	tpc_verify_walk(thread, tpc_walk_caller(frame));
	return node;
}

#endif
