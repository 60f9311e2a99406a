/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a hook begins and ends. Between tpc_enter() and tpc_leave() the thread is busy: hooked calls that the real
 * function makes are part of this event, and hooks in a signal handler do not record.
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
 * The same for a hook that was given pointers to blocks (hooks/leakcheck/leak_snapshot.h): in a pause, carries out a
 * request before the program's call is made.
 */
struct tpc_hand;
TPC_SLOW struct tpc_thread *tpc_enter_slow_given(const void *frame, const struct tpc_hand *hand);

/* tpc_enter(), if nothing special is to be done; else NULL. */
static inline struct tpc_thread *tpc_enter_at_once(const void *frame)
{
	struct tpc_thread *thread = tpc_self;

	if (tpc_unlikely(!thread || tpc_load(&tpc_state.mode) != TPC_MODE_ON || thread->busy ||
			 !tpc_thread_on_stack(thread, (uintptr_t)frame)))
		return NULL;
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(
		__ATOMIC_RELEASE); /* pairs with a handler: the frame is known before the thread is busy */
	thread->busy = TPC_BUSY_REAL;
	return thread;
}

/*
 * Returns the calling thread, or NULL: call the real function without recording. Starts the recording at the process's
 * very first call. `frame` is the exported hook's __builtin_frame_address(0). Usually six loads and four branches.
 */
static inline struct tpc_thread *tpc_enter(const void *frame)
{
	struct tpc_thread *thread = tpc_enter_at_once(frame);

	return tpc_likely(thread) ? thread : tpc_enter_slow(frame);
}

TPC_SLOW struct tpc_thread *tpc_enter_paused(const void *frame);

/* Enters while recording is off and could be switched on. */
TPC_SLOW struct tpc_thread *tpc_enter_off(const void *frame);

/* Like tpc_enter(), but also succeeds while recording is paused, so that frees and ends of ops are recorded. */
static inline struct tpc_thread *tpc_enter_end(const void *frame)
{
	struct tpc_thread *thread = tpc_enter(frame);

	return tpc_likely(thread) ? thread : tpc_enter_paused(frame);
}

TPC_SLOW struct tpc_thread *tpc_enter_end_slow(const void *frame, const void *block);

/* tpc_enter_end() for a hook that was given a block. */
static inline struct tpc_thread *tpc_enter_end_of(const void *frame, const void *block)
{
	struct tpc_thread *thread = tpc_enter_at_once(frame);

	return tpc_likely(thread) ? thread : tpc_enter_end_slow(frame, block);
}

/*
 * The same in two steps, for the functions that are called most. Is anything to be done at all? If not, or if
 * tpc_enters() fails, tpc_enter_slow() decides. Ten instructions.
 */
TPC_HOT bool tpc_is_open(const struct tpc_thread *thread)
{
	return tpc_likely(thread && tpc_load(&tpc_state.mode) == TPC_MODE_ON && !thread->busy);
}

/* Enters, if the shortest path can be taken (core/thread.h). Eight instructions. */
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

/* Counts n events of a call for which tpc_enter() returned NULL, if they are lost because recording was stopped. */
void tpc_unrecorded(uint32_t n);

/*
 * The same after a real function that may call hooked functions, which count themselves then: counts one event if none
 * of them did. `before` is tpc_unrecorded_calls from before the call.
 */
extern TPC_TLS uint32_t tpc_unrecorded_calls;
void tpc_unrecorded_around(uint32_t before);

static inline void tpc_leave(struct tpc_thread *thread)
{
	tpc_assert(thread == tpc_self);
	__atomic_signal_fence(__ATOMIC_RELEASE); /* pairs with a handler on this thread: the event is complete */
	thread->busy = TPC_IDLE;
}

/* Begins recording an event, before or after the real call. */
static inline void tpc_record(struct tpc_thread *thread, uint64_t ticks)
{
	tpc_assert(thread == tpc_self && thread->busy != TPC_BUSY_RECORD); /* events do not nest */
	thread->event_start = ticks;
	thread->busy = TPC_BUSY_RECORD;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
}

/*
 * Takes a memory sample at the end of a step, unless the last one is less than a millisecond old. Recording
 * (TPC_BUSY_RECORD).
 */
TPC_SLOW void tpc_recorded_step(struct tpc_thread *thread);

/*
 * To be called once for an event, whatever the reasons: times it if it was chosen (core/timed.h), and takes a sample if
 * due.
 */
TPC_SLOW void tpc_recorded_slow(struct tpc_thread *thread);

/* The same for an event of a signal handler; `context` is its ucontext_t. */
TPC_SLOW void tpc_recorded_interrupted_slow(struct tpc_thread *thread, const void *context);

/* Ends recording the event. One event in 64 is timed, to estimate what tprof costs. */
static inline void tpc_recorded(struct tpc_thread *thread)
{
	if (tpc_unlikely(tpc_timed_due(&thread->timed, thread->events) ||
			 thread->event_start >= tpc_load(&tpc_state.next_memory_sample)))
		tpc_recorded_slow(thread);
}

/*
 * tpc_recorded() for a function that the program called itself, and that may call others; unlike the hook of an op,
 * which must not touch vector registers.
 */
enum tpc_called {
	TPC_CALLED_ALLOC, /* of thread->last_block, which the program has not received yet */
	TPC_CALLED_FREE,  /* its cost is counted separately */
	TPC_CALLED_MOVE,  /* a FREE whose block is to be reallocated */
};
TPC_SLOW void tpc_recorded_called_slow(struct tpc_thread *thread, enum tpc_called what, const void *block);

/* `block` is for TPC_CALLED_MOVE. */
static inline void tpc_recorded_called(struct tpc_thread *thread, enum tpc_called what, const void *block)
{
	if (tpc_unlikely(tpc_timed_due(&thread->timed, thread->events) ||
			 thread->event_start >= tpc_load(&tpc_state.next_memory_sample)))
		tpc_recorded_called_slow(thread, what, block);
}

/* Is anything left to do at the end of an event? */
TPC_HOT bool tpc_recorded_due(const struct tpc_thread *thread, uint64_t ticks)
{
	return tpc_timed_due(&thread->timed, thread->events) || ticks >= tpc_load(&tpc_state.next_memory_sample);
}

/* tpc_recorded_called() with the ticks that tpc_record() got. */
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
