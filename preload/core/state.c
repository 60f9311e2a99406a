/* SPDX-License-Identifier: Apache-2.0 */
#include "core/state.h"

#include "core/clock.h"
#include "core/fork_pages.h"
#include "core/log.h"
#include "core/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

union tp_state_page tp_state_page;
bool tp_was_started;
static bool unprotected;
bool tp_sealed;
struct tprof_header *tp_header;
union tp_header_area tp_header_area;

void tp_state_protect(void)
{
	unprotected = tp_sys_madvise(&tp_state_page, sizeof(tp_state_page), MADV_WIPEONFORK) != 0;
}

bool tp_state_is_unprotected(void)
{
	return unprotected;
}

/*
 * The child of a pause has its parent's gate, which is closed, and would not learn that it has no trace. It gets a header
 * of nobody's, with what its start asks its parent's for.
 */
static void leave_gate(void)
{
	uint32_t recording = tp_load(&tp_header->recording);
	uint64_t slots = tp_load(&tp_header->slots);
	uint32_t pid = tp_header->pid;

	if (!tp_header_area_clear())
		return;
	tp_header->pid = pid;
	tp_header->recording = recording;
	tp_header->slots = slots;
}

void tp_state_forked(void)
{
	if (tp_state.mode != TP_MODE_NEW && tp_state.pid != tp_sys_getpid())
		memset(&tp_state_page, 0, sizeof(tp_state_page));
	if (tp_state_is_child())
		tp_fork_pages_from_parent();
	if (tp_header && tp_state_is_child() && tp_gate())
		leave_gate();
}

bool tp_header_area_clear(void)
{
	return !tp_sys_failed(tp_sys_mmap_zeros(&tp_header_area, sizeof(tp_header_area)));
}

void tp_lost(enum tprof_lost cause, uint64_t n)
{
	if (tp_header && !tp_state_is_child())
		tp_add(&tp_header->lost[cause], n);
}

void tp_lost_stopped(uint64_t n)
{
	/* Acquire pairs with tp_stop(); between its two stores the cause may not be there yet. */
	uint32_t cause = tp_header ? tp_load_acquire(&tp_header->stop_cause) : 0;

	/* Others can write to the header. */
	tp_lost(cause && cause <= TPROF_LOST_CAUSES ? (enum tprof_lost)(cause - 1) : TPROF_LOST_NO_SPACE, n);
}

void tp_spent(uint64_t ticks)
{
	uint64_t now = tp_clock_before();

	if (tp_header && !tp_state_is_child() && now > ticks)
		tp_add(&tp_header->other_ticks, now - ticks);
}

/*
 * Who asks stores the request's number, then opens the gate; here it is closed, then the number is looked at. So either this
 * opens it again, or the other's store comes behind it.
 */
void tp_gate_set(void)
{
	uint32_t mode = tp_load(&tp_state.mode), gate = TPROF_GATE_OPEN;

	if (mode == TP_MODE_PAUSED || mode == TP_MODE_WAITING)
		gate = mode == TP_MODE_PAUSED ? TPROF_GATE_BEGINS : TPROF_GATE_ALL;
	__atomic_store_n(&tp_header->gate, gate, __ATOMIC_SEQ_CST); /* pairs with tp_control_ask() of the analyzer */
	if (tp_load(&tp_header->control_asked) != tp_load(&tp_header->control_taken) || tp_load(&tp_state.mode) != mode)
		tp_store(&tp_header->gate, (uint32_t)TPROF_GATE_OPEN);
}

/* The gate first: what comes between is looked at closer, and finds a pause. */
static bool end_pause(void)
{
	tp_store(&tp_state.still.sampled, UINT64_C(0)); /* the first sample is not left out */
	tp_store(&tp_header->gate, (uint32_t)TPROF_GATE_OPEN);
	if (!tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_PAUSED, (uint32_t)TP_MODE_ON) &&
	    !tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_WAITING, (uint32_t)TP_MODE_ON))
		return false;
	tp_store(&tp_state.next_memory_sample, UINT64_C(1));
	return true;
}

/*
 * Who sees the mode sees the rest (release), and so does who gets memory that was freed by one who did: hooks/gate/paused_frees.h
 * relies on it. The sample is due at a time that is not 0 while recording is on, so nobody who was about to take one sets it.
 */
static bool begin_pause(void (*before)(void))
{
	if (tp_load(&tp_state.mode) != TP_MODE_ON)
		return false;
	before();
	tp_store(&tp_state.next_memory_sample, UINT64_C(0));
	if (!tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_ON, (uint32_t)TP_MODE_PAUSED))
		return false;
	tp_gate_set();
	return true;
}

/* One thread at a time: who waits, waits for a few instructions. */
bool tp_switch(bool on, void (*before_pause)(void))
{
	bool switched;

	while (!tp_swap_if(&tp_state.switching, 0u, 1u))
		tp_syscall(SYS_sched_yield, 0, 0, 0, 0);
	switched = on ? end_pause() : begin_pause(before_pause);
	if (switched)
		tp_store(&tp_header->recording, (uint32_t)(on ? TPROF_RECORDING_ON : TPROF_RECORDING_PAUSED));
	tp_store_release(&tp_state.switching, 0u); /* pairs with the swap above */
	return switched;
}

/* False: it was stopped before, or never ran. */
static bool stop(enum tprof_lost cause)
{
	if (!tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_ON, (uint32_t)TP_MODE_STOPPED) &&
	    !tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_PAUSED, (uint32_t)TP_MODE_STOPPED))
		return false;
	tp_store(&tp_header->gate, (uint32_t)TPROF_GATE_OPEN); /* what follows is counted */
	tp_header->stop_ticks = tp_clock_before();
	__atomic_fetch_or(&tp_header->flags, TPROF_FLAG_STOPPED, __ATOMIC_RELAXED);
	tp_store_release(&tp_header->stop_cause, (uint32_t)cause + 1); /* pairs with the reader: the rest is set */
	return true;
}

void tp_seal(void)
{
	stop(TPROF_LOST_SANDBOX);
	tp_store(&tp_sealed, true);
}

void tp_stop(enum tprof_lost cause, const char *reason)
{
	if (stop(cause))
		tp_log("recording stopped: ", reason);
}
