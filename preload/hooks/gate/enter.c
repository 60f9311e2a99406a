/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/enter.h"

#include "core/spill.h"
#include "core/memory_sample.h"
#include "core/sys.h"
#include "core/tables.h"
#include "hooks/gate/control.h"
#include "hooks/leakcheck/leak_snapshot.h"
#include "hooks/gate/allocator.h"
#include "hooks/gate/paused_frees.h"
#include "hooks/gate/start.h"

#define MEMORY_SAMPLE_NS 10000000u
#define STEP_SAMPLE_NS 1000000u /* at steps' ends it may come that soon after the last */

static struct tp_thread *take(struct tp_thread *thread, const void *frame)
{
	thread->busy_frame = (uintptr_t)frame;
	thread->busy_return = ((const uintptr_t *)frame)[1];
	__atomic_signal_fence(__ATOMIC_RELEASE);
	thread->busy = TP_BUSY_REAL;
	return thread;
}

/*
 * Is the hook that made the thread busy gone, as far as its frame tells? It is if the caller stands above that on the same
 * stack, or at it; if another return address stands there: a later call's; or if it was a signal handler's and that stack was left.
 */
static bool seems_abandoned(const struct tp_thread *thread, uintptr_t frame)
{
	uintptr_t busy = thread->busy_frame;

	if (tp_range_holds(thread->alternate, busy) && tp_range_holds(thread->own, frame))
		return true;
	if (!tp_thread_on_stack(thread, busy))
		return false;
	return (tp_thread_on_stack(thread, frame) && frame >= busy) ||
	       ((const uintptr_t *)busy)[1] != thread->busy_return;
}

/*
 * By a longjmp out of a signal handler, that is. Not if a handler asks: it may have interrupted that hook. What is noted of
 * the hook's frame proves nothing then: just before it was busy another handler may have come, whose own hooks noted theirs.
 */
static bool is_abandoned(const struct tp_thread *thread, const void *frame)
{
	return seems_abandoned(thread, (uintptr_t)frame) && !tp_walk_is_handlers(thread, frame) &&
	       tp_sys_gettid() == tp_load(&thread->tid);
}

/* A stack that the thread was not on last time. A raw clone() shares our TLS but is another task. */
static bool enter_stack(struct tp_thread *thread, const void *frame)
{
	if (tp_thread_on_stack(thread, (uintptr_t)frame))
		return true;
	if (tp_sys_gettid() != tp_load(&thread->tid)) {
		tp_lost(TPROF_LOST_FOREIGN, 1);
		return false;
	}
	tp_thread_find_stack(thread, (uintptr_t)frame);
	return true;
}

/* A busy thread: part of the event in progress, a signal handler's, or after a hook that was left. */
static struct tp_thread *enter_busy(struct tp_thread *thread, const void *frame)
{
	bool recording = thread->busy == TP_BUSY_RECORD;

	if (is_abandoned(thread, frame)) {
		if (recording)
			tp_thread_recover(thread);
		return enter_stack(thread, frame) ? take(thread, frame) : NULL;
	}
	if (recording)
		tp_lost(TPROF_LOST_REENTRANT, 1);
	return NULL;
}

/* Recording is on, or paused and somebody waits for an answer. */
static struct tp_thread *enter(const void *frame)
{
	struct tp_thread *thread = tp_self;

	if (thread && thread->busy)
		return enter_busy(thread, frame);
	if (!thread)
		thread = tp_thread_attach();
	if (!thread || !enter_stack(thread, frame))
		return NULL;
	return take(thread, frame);
}

/* The first event in a pause that finds a request carries it out; the request may be to go on. */
static TP_SLOW struct tp_thread *answer(const void *frame, const struct tp_hand *hand)
{
	struct tp_thread *thread = enter(frame);

	if (!thread)
		return NULL;
	thread->busy = TP_BUSY_RECORD;
	tp_control_answer(thread, hand);
	tp_leave(thread);
	if (tp_load_acquire(&tp_state.mode) != TP_MODE_ON)
		return NULL;
	tp_lifecycle.resumed(frame);
	return take(thread, frame);
}

struct tp_thread *tp_enter_slow_given(const void *frame, const struct tp_hand *hand)
{
	uint32_t mode = tp_load_acquire(&tp_state.mode);

	if (mode == TP_MODE_PAUSED || mode == TP_MODE_WAITING) {
		if (tp_control_waits())
			return answer(frame, hand);
		if (tp_gate() == TPROF_GATE_OPEN)
			tp_gate_set(); /* a request was taken back */
		return NULL;
	}
	if (mode == TP_MODE_NEW)
		tp_start();
	return tp_load_acquire(&tp_state.mode) == TP_MODE_ON ? enter(frame) : NULL;
}

struct tp_thread *tp_enter_slow(const void *frame)
{
	return tp_enter_slow_given(frame, NULL);
}

struct tp_thread *tp_enter_paused(const void *frame)
{
	return tp_load_acquire(&tp_state.mode) == TP_MODE_PAUSED ? enter(frame) : NULL;
}

struct tp_thread *tp_enter_end_slow(const void *frame, const void *block)
{
	const uint64_t word = (uintptr_t)block;
	struct tp_thread *thread = tp_enter_slow_given(frame, &(struct tp_hand){ .words = &word, .count = 1 });

	return thread ? thread : tp_enter_paused(frame);
}

struct tp_thread *tp_enter_off(const void *frame)
{
	uint32_t mode = tp_load_acquire(&tp_state.mode);

	return mode == TP_MODE_PAUSED || mode == TP_MODE_WAITING ? enter(frame) : NULL;
}

TP_TLS uint32_t tp_unrecorded_calls;

void tp_unrecorded(uint32_t n)
{
	tp_unrecorded_calls++;
	if (tp_load(&tp_state.mode) == TP_MODE_STOPPED && !(tp_self && tp_self->busy))
		tp_lost_stopped(n);
}

void tp_unrecorded_around(uint32_t before)
{
	if (tp_unrecorded_calls == before)
		tp_unrecorded(1);
}

/* So that the trace of a killed program can be timed: ticks are 0 while the rest is not right. */
static void note_moment(void)
{
	struct tprof_moment now = tp_clock_moment();

	tp_store_release(&tp_header->latest.ticks, UINT64_C(0));
	tp_store_release(&tp_header->latest.mono_ns, now.mono_ns);
	tp_store_release(&tp_header->latest.unix_ns, now.unix_ns);
	tp_store_release(&tp_header->latest.ticks, now.ticks);
	if (!tp_load(&tp_sealed) && tp_sys_getppid() == tp_header->ppid)
		tp_store_release(&tp_header->parent_seen_ns, now.mono_ns);
}

/* The disk was full: has it room again? An idle thread's own chunk waits until that has an event, or the process ends. */
static TP_SLOW void settle(struct tp_thread *thread)
{
	tp_spill_write(TP_SPILL_AT_ONCE);
	tp_spill_settle(thread->chunk);
}

/*
 * If it is due (in a pause it is not), or will be within `early` ticks. Nor is it once recording has stopped: a reallocation's
 * first half may have found the disk full.
 */
static void sample_memory(struct tp_thread *thread, uint64_t early, const struct tp_hand *hand)
{
	uint64_t due = tp_load(&tp_state.next_memory_sample), ticks = thread->event_start, began;

	if (!due || tp_load(&tp_state.mode) == TP_MODE_STOPPED || thread->event_start + early < due ||
	    /* another thread took this one */
	    !tp_swap_if(&tp_state.next_memory_sample, due, thread->event_start + tp_clock_ticks(MEMORY_SAMPLE_NS)))
		return;
	began = tp_clock_before();
	note_moment();
	if (tp_spill_waits())
		settle(thread);
	if (tp_unlikely(tp_control_waits()))
		tp_control_answer(thread, hand);
	tp_leak_snapshot_reap();
	tp_sample_memory_due(thread, ticks, early > 0);
	tp_spent(began);
}

/* Of all that the chunk had so far, each stays with the same chance (Waterman's reservoir; Knuth, TAOCP 3.4.2 R). */
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

/* `now` is from before anything that only timed events do, so that it is no part of their time. */
static void time_event(struct tp_thread *thread, uint64_t now, bool is_free)
{
	struct tprof_chunk *chunk = thread->chunk;
	uint64_t took;

	if (!tp_timed_is(&thread->timed, thread->events) || !chunk)
		return;
	took = now > thread->event_start ? now - thread->event_start : 0;
	keep_some(chunk, took, is_free, thread->timed.seed >> 8);
	chunk->overhead_ticks += TP_TIMED_SHARE * took;
	chunk->overhead_samples++;
	if (is_free) {
		chunk->free_ticks += TP_TIMED_SHARE * took;
		chunk->free_samples++;
	}
}

void tp_recorded_slow(struct tp_thread *thread)
{
	time_event(thread, tp_clock_before(), false);
	sample_memory(thread, 0, NULL);
}

void tp_recorded_interrupted_slow(struct tp_thread *thread, const void *context)
{
	time_event(thread, tp_clock_before(), false);
	sample_memory(thread, 0, &(struct tp_hand){ .context = context });
}

/* The allocator first: whoever waits for an answer, which comes with the sample, is to find what it says. */
void tp_recorded_called_slow(struct tp_thread *thread, enum tp_called what, const void *block)
{
	uint64_t now = tp_clock_before();
	bool answers = thread->event_start >= tp_load(&tp_state.next_memory_sample) && tp_control_waits();
	struct tp_hand hand = { .words = &thread->last_block,
				.count = what == TP_CALLED_ALLOC,
				.moving = what == TP_CALLED_MOVE ? block : NULL };

	if (tp_load(&tp_state.mode) == TP_MODE_PAUSED)
		tp_paused_free_forget(thread->last_block);
	time_event(thread, now, what != TP_CALLED_ALLOC);
	tp_allocator_ask(thread, answers);
	sample_memory(thread, 0, &hand);
}

void tp_recorded_step(struct tp_thread *thread)
{
	tp_allocator_ask(thread, false);
	sample_memory(thread, tp_clock_ticks(MEMORY_SAMPLE_NS - STEP_SAMPLE_NS), NULL);
}
