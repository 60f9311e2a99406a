/* SPDX-License-Identifier: Apache-2.0 */
#include "core/state.h"

#include "core/clock.h"
#include "core/say.h"
#include "core/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

union tp_state_page tp_state_page;
bool tp_was_started;
bool tp_sealed;
struct tprof_header *tp_header;

void tp_state_protect(void)
{
	tp_sys_madvise(&tp_state_page, sizeof(tp_state_page), MADV_WIPEONFORK);
}

void tp_state_forked(void)
{
	if (tp_state.mode != TP_MODE_NEW && tp_state.pid != tp_sys_getpid())
		memset(&tp_state_page, 0, sizeof(tp_state_page));
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

static bool end_pause(void)
{
	if (!tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_PAUSED, (uint32_t)TP_MODE_ON) &&
	    !tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_WAITING, (uint32_t)TP_MODE_ON))
		return false;
	tp_store(&tp_state.next_memory_sample, UINT64_C(1));
	return true;
}

/*
 * Who sees the mode sees the rest (release), and so does who gets memory that was freed by one who did: hooks/memory/ended.h
 * relies on it. The sample is due at a time that is not 0 while recording is on, so nobody who was about to take one sets it.
 */
static bool begin_pause(void (*before)(void))
{
	if (tp_load(&tp_state.mode) != TP_MODE_ON)
		return false;
	before();
	tp_store(&tp_state.next_memory_sample, UINT64_C(0));
	return tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_ON, (uint32_t)TP_MODE_PAUSED);
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
		tp_say("recording stopped: ", reason);
}
