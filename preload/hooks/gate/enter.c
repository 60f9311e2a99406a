/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/enter.h"

#include "core/budget.h"
#include "core/spill.h"
#include "core/memory_sample.h"
#include "core/reclaim.h"
#include "core/sys.h"
#include "core/tables.h"
#include "hooks/gate/control.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/gate/allocator.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/gate/start.h"

#define MEMORY_SAMPLE_NS 10000000u
#define STEP_SAMPLE_NS 1000000u /* a sample at a step's end may follow this soon */

static struct tpc_thread *take(struct tpc_thread *thread, const void *frame)
{
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->busy = TPC_BUSY_REAL;
	return thread;
}

/*
 * Does the frame of the hook that made the thread busy look as if the hook is gone? It does if the caller is at or
 * above it on the same stack, if another return address is there (a later call's), or if it was a signal handler's and
 * that stack was left.
 */
static bool seems_abandoned(const struct tpc_thread *thread, uintptr_t frame)
{
	uintptr_t busy = thread->busy_frame;

	if (tpc_range_holds(thread->alternate, busy) && tpc_range_holds(thread->own, frame))
		return true;
	if (!tpc_thread_on_stack(thread, busy))
		return false;
	return (tpc_thread_on_stack(thread, frame) && frame >= busy) ||
	       ((const uintptr_t *)busy)[1] != thread->busy_return;
}

/*
 * Was that hook abandoned by a longjmp out of a signal handler? Not if a handler asks: it may have interrupted that
 * hook. The noted frame proves nothing then: just before the hook became busy, another handler may have run, whose own
 * hooks noted theirs.
 */
static bool is_abandoned(const struct tpc_thread *thread, const void *frame)
{
	return seems_abandoned(thread, (uintptr_t)frame) && !tpc_walk_is_handlers(thread, frame) &&
	       tpc_sys_gettid() == tpc_load(&thread->tid);
}

/* The thread is on a stack that it was not on last time. A raw clone() shares our TLS but is another task. */
static bool enter_stack(struct tpc_thread *thread, const void *frame)
{
	if (tpc_thread_on_stack(thread, (uintptr_t)frame))
		return true;
	if (tpc_sys_gettid() != tpc_load(&thread->tid)) {
		tpc_lost(TPROF_LOST_FOREIGN, 1);
		return false;
	}
	tpc_thread_find_stack(thread, (uintptr_t)frame);
	return true;
}

/*
 * The thread is busy: the call is part of the event in progress, or a signal handler's, or comes after an abandoned
 * hook.
 */
static struct tpc_thread *enter_busy(struct tpc_thread *thread, const void *frame)
{
	bool recording = thread->busy == TPC_BUSY_RECORD;

	if (is_abandoned(thread, frame)) {
		if (recording)
			tpc_thread_recover(thread);
		return enter_stack(thread, frame) ? take(thread, frame) : NULL;
	}
	if (recording)
		tpc_lost(TPROF_LOST_REENTRANT, 1);
	return NULL;
}

/* Recording is on, or paused with a request waiting. */
static struct tpc_thread *enter(const void *frame)
{
	struct tpc_thread *thread = tpc_self;

	if (thread && thread->busy)
		return enter_busy(thread, frame);
	if (!thread)
		thread = tpc_thread_attach();
	if (!thread || !enter_stack(thread, frame))
		return NULL;
	return take(thread, frame);
}

/* The first event in a pause that finds a request carries it out, maybe to resume. */
static TPC_SLOW struct tpc_thread *answer(const void *frame, const struct tpc_hand *hand)
{
	struct tpc_thread *thread = enter(frame);

	if (!thread)
		return NULL;
	thread->busy = TPC_BUSY_RECORD;
	tpc_control_answer(thread, hand);
	tpc_leave(thread);
	if (tpc_load_acquire(&tpc_state.mode) != TPC_MODE_ON)
		return NULL;
	tpc_lifecycle.resumed(frame);
	return take(thread, frame);
}

struct tpc_thread *tpc_enter_slow_given(const void *frame, const struct tpc_hand *hand)
{
	uint32_t mode = tpc_load_acquire(&tpc_state.mode);

	if (mode == TPC_MODE_PAUSED || mode == TPC_MODE_WAITING) {
		if (tpc_control_waits())
			return answer(frame, hand);
		if (tpc_gate() == TPROF_GATE_OPEN)
			tpc_gate_set(); /* a request was withdrawn */
		return NULL;
	}
	if (mode == TPC_MODE_NEW)
		tpc_start();
	return tpc_load_acquire(&tpc_state.mode) == TPC_MODE_ON ? enter(frame) : NULL;
}

struct tpc_thread *tpc_enter_slow(const void *frame)
{
	return tpc_enter_slow_given(frame, NULL);
}

struct tpc_thread *tpc_enter_paused(const void *frame)
{
	return tpc_load_acquire(&tpc_state.mode) == TPC_MODE_PAUSED ? enter(frame) : NULL;
}

struct tpc_thread *tpc_enter_end_slow(const void *frame, const void *block)
{
	const uint64_t word = (uintptr_t)block;
	bool paused = tpc_load_acquire(&tpc_state.mode) == TPC_MODE_PAUSED;
	struct tpc_thread *thread = tpc_enter_slow_given(frame, &(struct tpc_hand){ .words = &word, .count = 1 });

	if (!thread && paused && tpc_load_acquire(&tpc_state.mode) == TPC_MODE_ON)
		return enter(frame); /* the pause has just ended */
	return thread ? thread : tpc_enter_paused(frame);
}

struct tpc_thread *tpc_enter_off(const void *frame)
{
	uint32_t mode = tpc_load_acquire(&tpc_state.mode);

	return mode == TPC_MODE_PAUSED || mode == TPC_MODE_WAITING ? enter(frame) : NULL;
}

TPC_TLS uint32_t tpc_unrecorded_calls;

void tpc_unrecorded(uint32_t n)
{
	tpc_unrecorded_calls++;
	if (tpc_load(&tpc_state.mode) == TPC_MODE_STOPPED && !(tpc_self && tpc_self->busy))
		tpc_lost_stopped(n);
}

void tpc_unrecorded_around(uint32_t before)
{
	if (tpc_unrecorded_calls == before)
		tpc_unrecorded(1);
}

/* Notes the time, so that the trace of a killed program has an end. Ticks are 0 while the other fields are inconsistent. */
static void note_moment(void)
{
	struct tprof_moment now = tpc_clock_moment();

	tpc_store_release(&tpc_header->latest.ticks, UINT64_C(0));
	tpc_store_release(&tpc_header->latest.mono_ns, now.mono_ns);
	tpc_store_release(&tpc_header->latest.unix_ns, now.unix_ns);
	tpc_store_release(&tpc_header->latest.ticks, now.ticks);
	if (!tpc_load(&tpc_sealed) && tpc_sys_getppid() == tpc_header->ppid)
		tpc_store_release(&tpc_header->parent_seen_ns, now.mono_ns);
}

/*
 * Writes spilled chunks, if the disk has room again. The chunk of an idle thread waits until that thread has an event,
 * or the process ends.
 */
static TPC_SLOW void settle(struct tpc_thread *thread)
{
	tpc_spill_write(TPC_SPILL_AT_ONCE);
	tpc_spill_settle(thread->chunk);
}

/* The sample is taken. Samples may be too dear for the next one to come as soon as it would. */
static TPC_SLOW void budget(struct tpc_thread *thread, uint64_t ticks, uint64_t began_ns)
{
	uint64_t wait = tpc_budget_sampled(tpc_clock_thread_ns() - began_ns, MEMORY_SAMPLE_NS);
	uint64_t due = ticks + tpc_clock_ticks(MEMORY_SAMPLE_NS);

	tpc_budget_look(thread);
	tpc_swap_if(&tpc_state.next_memory_sample, due, ticks + tpc_clock_ticks(wait));
}

/*
 * Takes a sample if it is due, or will be within `early` ticks. In a pause it never is. Nor is it once recording has
 * stopped: the first half of a reallocation may have found the disk full.
 */
static void sample_memory(struct tpc_thread *thread, uint64_t early, const struct tpc_hand *hand)
{
	uint64_t due = tpc_load(&tpc_state.next_memory_sample), ticks = thread->event_start, began, began_ns = 0;

	if (!due || tpc_load(&tpc_state.mode) == TPC_MODE_STOPPED || thread->event_start + early < due ||
	    /* another thread takes this one */
	    !tpc_swap_if(&tpc_state.next_memory_sample, due, thread->event_start + tpc_clock_ticks(MEMORY_SAMPLE_NS)))
		return;
	began = tpc_clock_before();
	if (tpc_budget_is_on())
		began_ns = tpc_clock_thread_ns();
	note_moment();
	if (tpc_spill_waits())
		settle(thread);
	if (tpc_unlikely(tpc_control_waits()))
		tpc_control_answer(thread, hand);
	if (tpc_unlikely(tpc_load(&tpc_step_due)))
		tpc_leak_snapshot_step(hand);
	tpc_leak_snapshot_reap();
	tpc_sample_memory_due(thread, ticks, early > 0);
	if (tpc_budget_is_on())
		budget(thread, ticks, began_ns);
	tpc_spent(began);
}

/* Each timed event of the chunk so far is kept with the same probability (Waterman's reservoir; Knuth, TAOCP 3.4.2 R). */
static void keep_some(struct tprof_chunk *chunk, uint64_t ticks, bool is_free, uint32_t random)
{
	uint64_t place = chunk->overhead_samples;

	if (place >= TPROF_CHUNK_TIMED)
		place = random % (place + 1);
	if (place >= TPROF_CHUNK_TIMED)
		return;
	chunk->timed[place] = ticks < UINT32_MAX ? (uint32_t)ticks + !ticks : UINT32_MAX;
	chunk->free_timed = (chunk->free_timed & ~(UINT32_C(1) << place)) | (uint32_t)is_free << place;
}

/* `now` was read before anything that only timed events do, so that this is not counted. */
static void time_event(struct tpc_thread *thread, uint64_t now, bool is_free)
{
	struct tprof_chunk *chunk = tpc_reclaim_left(thread);
	uint64_t took;

	if (!tpc_timed_is(&thread->timed, thread->events) || !chunk)
		return;
	took = now > thread->event_start ? now - thread->event_start : 0;
	keep_some(chunk, took, is_free, thread->timed.seed >> 8);
	chunk->overhead_ticks += TPC_TIMED_SHARE * took;
	chunk->overhead_samples++;
	if (tpc_budget_is_on())
		tpc_budget_timed(took);
	if (is_free) {
		chunk->free_ticks += TPC_TIMED_SHARE * took;
		chunk->free_samples++;
	}
}

void tpc_recorded_slow(struct tpc_thread *thread)
{
	time_event(thread, tpc_clock_before(), false);
	sample_memory(thread, 0, NULL);
}

void tpc_recorded_interrupted_slow(struct tpc_thread *thread, const void *context)
{
	time_event(thread, tpc_clock_before(), false);
	sample_memory(thread, 0, &(struct tpc_hand){ .context = context });
}

/* Asks the allocator first: a requester gets its answer with the sample, and must find these numbers. */
void tpc_recorded_called_slow(struct tpc_thread *thread, enum tpc_called what, const void *block)
{
	uint64_t now = tpc_clock_before();
	bool answers = thread->event_start >= tpc_load(&tpc_state.next_memory_sample) && tpc_control_waits();
	struct tpc_hand hand = { .words = &thread->last_block,
				 .count = what == TPC_CALLED_ALLOC,
				 .moving = what == TPC_CALLED_MOVE ? block : NULL };

	if (tpc_load(&tpc_state.mode) == TPC_MODE_PAUSED)
		tpc_paused_free_forget(thread->last_block);
	time_event(thread, now, what != TPC_CALLED_ALLOC);
	tpc_allocator_ask(thread, answers);
	sample_memory(thread, 0, &hand);
}

void tpc_recorded_step(struct tpc_thread *thread)
{
	tpc_allocator_ask(thread, false);
	sample_memory(thread, tpc_clock_ticks(MEMORY_SAMPLE_NS - STEP_SAMPLE_NS), NULL);
}
