/* SPDX-License-Identifier: Apache-2.0 */
#include "core/state.h"

#include "core/clock.h"
#include "core/log.h"
#include "core/sys.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

union tpc_state_page tpc_state_page;
bool tpc_was_started;
static bool unprotected;
tpc_shared_bool tpc_sealed;
struct tprof_header *tpc_header;
union tpc_header_area tpc_header_area;

void tpc_state_protect(void)
{
	unprotected = tpc_sys_madvise(&tpc_state_page, sizeof(tpc_state_page), MADV_WIPEONFORK) != 0;
}

bool tpc_state_is_unprotected(void)
{
	return unprotected;
}

bool tpc_header_area_clear(void)
{
	return !tpc_sys_failed(tpc_sys_mmap_zeros(&tpc_header_area, sizeof(tpc_header_area)));
}

void tpc_lost(enum tprof_lost cause, uint64_t n)
{
	if (tpc_header && !tpc_state_is_child())
		tpc_add(&tpc_header->lost[cause], n);
}

void tpc_lost_stopped(uint64_t n)
{
	/* Acquire pairs with stop(); between its two stores the cause may be missing. */
	uint32_t cause = tpc_header ? tpc_load_acquire(&tpc_header->stop_cause) : 0;

	/* Other processes can write to the header. */
	tpc_lost(cause && cause <= TPROF_LOST_CAUSES ? (enum tprof_lost)(cause - 1) : TPROF_LOST_NO_SPACE, n);
}

void tpc_spent(uint64_t ticks)
{
	uint64_t now = tpc_clock_before();

	if (tpc_header && !tpc_state_is_child() && now > ticks)
		tpc_add(&tpc_header->other_ticks, now - ticks);
}

/*
 * A requester stores the number of the request, then opens the gate. Here the gate is closed, then the number is read.
 * So either this sees the request and opens the gate again, or the requester's store comes after it.
 */
void tpc_gate_set(void)
{
	uint32_t mode = tpc_load(&tpc_state.mode), gate = TPROF_GATE_OPEN;

	if (mode == TPC_MODE_PAUSED || mode == TPC_MODE_WAITING)
		gate = mode == TPC_MODE_PAUSED ? TPROF_GATE_BEGINS : TPROF_GATE_ALL;
	tpc_store_seq(&tpc_header->gate, gate); /* pairs with tpc_control_ask() of the analyzer */
	if (tpc_load(&tpc_header->control_asked) != tpc_load(&tpc_header->control_taken) ||
	    tpc_load(&tpc_state.mode) != mode)
		tpc_store(&tpc_header->gate, (uint32_t)TPROF_GATE_OPEN);
}

/*
 * Opens the gate first: events in between take the slow path, and find a pause. And again at last: such an event may have closed it
 * again, as one does that finds no request.
 */
static bool end_pause(void)
{
	tpc_store(&tpc_state.still.sampled, UINT64_C(0)); /* so that the first sample is taken */
	tpc_store(&tpc_header->gate, (uint32_t)TPROF_GATE_OPEN);
	if (!tpc_swap_if(&tpc_state.mode, (uint32_t)TPC_MODE_PAUSED, (uint32_t)TPC_MODE_ON) &&
	    !tpc_swap_if(&tpc_state.mode, (uint32_t)TPC_MODE_WAITING, (uint32_t)TPC_MODE_ON))
		return false;
	tpc_store(&tpc_header->gate, (uint32_t)TPROF_GATE_OPEN);
	tpc_store(&tpc_state.next_memory_sample, UINT64_C(1));
	return true;
}

/*
 * A thread that sees the mode sees the rest (release), and so does a thread that gets memory freed by such a thread:
 * hooks/gate/paused_frees.h relies on it. While recording is on, the time of the next sample is not 0, so a thread that
 * is about to take one does not overwrite the 0.
 */
static bool begin_pause(void (*before)(void))
{
	if (tpc_load(&tpc_state.mode) != TPC_MODE_ON)
		return false;
	before();
	tpc_store(&tpc_state.next_memory_sample, UINT64_C(0));
	if (!tpc_swap_if(&tpc_state.mode, (uint32_t)TPC_MODE_ON, (uint32_t)TPC_MODE_PAUSED))
		return false;
	tpc_gate_set();
	return true;
}

/* One thread at a time; others wait for a few instructions. */
bool tpc_switch(bool on, void (*before_pause)(void))
{
	bool switched;

	while (!tpc_swap_if(&tpc_state.switching, 0u, 1u))
		tpc_syscall(SYS_sched_yield, 0, 0, 0, 0);
	switched = on ? end_pause() : begin_pause(before_pause);
	if (switched)
		tpc_store(&tpc_header->recording, (uint32_t)(on ? TPROF_RECORDING_ON : TPROF_RECORDING_PAUSED));
	tpc_store_release(&tpc_state.switching, 0u); /* pairs with the swap above */
	return switched;
}

/* False: recording had stopped before, or never ran. */
static bool stop(enum tprof_lost cause)
{
	if (!tpc_swap_if(&tpc_state.mode, (uint32_t)TPC_MODE_ON, (uint32_t)TPC_MODE_STOPPED) &&
	    !tpc_swap_if(&tpc_state.mode, (uint32_t)TPC_MODE_PAUSED, (uint32_t)TPC_MODE_STOPPED))
		return false;
	tpc_store(&tpc_header->gate, (uint32_t)TPROF_GATE_OPEN); /* later events are counted as lost */
	tpc_header->stop_ticks = tpc_clock_before();
	tpc_set_bits(&tpc_header->flags, TPROF_FLAG_STOPPED);
	tpc_store_release(&tpc_header->stop_cause, (uint32_t)cause + 1); /* pairs with the reader: the rest is set */
	return true;
}

void tpc_seal(void)
{
	stop(TPROF_LOST_SANDBOX);
	tpc_store(&tpc_sealed, true);
}

void tpc_stop(enum tprof_lost cause, const char *reason)
{
	if (stop(cause))
		tpc_log("recording stopped: ", reason);
}
