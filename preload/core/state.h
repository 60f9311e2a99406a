/* SPDX-License-Identifier: Apache-2.0 */
/* The state of recording in this process: the word that every hook reads first, and the header of the trace. */
#ifndef TPROF_CORE_STATE_H
#define TPROF_CORE_STATE_H

#include <tprof/format.h>

#include "core/base.h"
#include "core/rss_cache.h"

enum tpc_mode {
	TPC_MODE_NEW = 0,  /* not started, or a forked child that has not noticed: the kernel zeroed the page */
	TPC_MODE_STARTING, /* a thread is starting it */
	TPC_MODE_ON,
	TPC_MODE_OFF,	  /* not recorded: TPROF_EXE, TPROF_CHILDREN, no trace file */
	TPC_MODE_STOPPED, /* recording ended early (disk full, ...); later events are counted */
	TPC_MODE_PAUSED,  /* by the user: only ends of what was recorded before are recorded */
	TPC_MODE_WAITING, /* paused from the start on: nothing was recorded that could end */
};

/* A page of its own: MADV_WIPEONFORK zeroes it in a child, however that was made. */
struct tpc_state {
	tpc_shared_u32 mode; /* enum tpc_mode */
	uint32_t pid;
	tpc_shared_u64 next_memory_sample; /* ticks; 0 in a pause: no sample, but all events take the slow path */
	tpc_shared_u64 next_resident;	   /* the same, of the parts of RSS; all ones: a thread is counting */
	tpc_shared_u64 next_allocator;	   /* the same, of the allocator's numbers */
	tpc_shared_u64 next_regions;	   /* the same, of smaps (core/regions.h); all ones: it can't be read */
	tpc_shared_u64 last_regions;	   /* when that was read last; 0: never */
	struct tpc_rss_cache still;	   /* of the last sample of memory */
	tpc_shared_u64 rss, vms, shared;   /* its numbers, bytes, */
	tpc_shared_u64 changes;		   /* and tpc_resident_changes() then */
	tpc_shared_u32 switching;	   /* 1: a thread is in tpc_switch() */
	tpc_shared_u32 by_libc;		   /* 1: the first process, or a child of libc's fork() */
} __attribute__((aligned(TPC_PAGE)));

extern union tpc_state_page {
	struct tpc_state s;
	char page[TPC_PAGE];
} tpc_state_page TPC_NEAR;
#define tpc_state (tpc_state_page.s)

extern tpc_shared_bool tpc_sealed;		 /* the program is in a sandbox: no more system calls */
extern bool tpc_was_started;			 /* survives a fork: mode NEW then means child */
extern struct tprof_header *tpc_header TPC_NEAR; /* NULL, or tpc_header_area's: in all modes with a trace */

/*
 * The trace's header is mapped into the library's own data, so that a hook reads the first word that it needs
 * (tpc_gate()) at a fixed address. Zeros if there is no trace, which is an open gate.
 */
extern union tpc_header_area {
	struct tprof_header h;
	char pages[TPROF_HEADER_SIZE];
} __attribute__((aligned(TPC_PAGE))) tpc_header_area TPC_NEAR;

/*
 * What hooks skip (enum tprof_gate): nothing while recording is on or a request waits. It is in the header, not in the
 * state's page, so that `tprof ctl` can open it. Acquire: pairs with tpc_gate_set(); a thread that sees it closed sees
 * the rest of the pause.
 */
TPC_HOT uint32_t tpc_gate(void)
{
	return tpc_load_acquire(&tpc_header_area.h.gate);
}

/* Replaces the header by zeros. False: that failed. */
TPC_SLOW bool tpc_header_area_clear(void);

/*
 * Sets the gate as the mode requires; opens it if a request waits. To be called after each change of the mode, except
 * to ON.
 */
TPC_SLOW void tpc_gate_set(void);

/*
 * Is this a child that was forked by a signal handler which interrupted a recording, and that returns into this
 * recording? What it would write belongs to its parent's trace, and the parent writes it itself (core/forked.h).
 */
static inline bool tpc_state_is_child(void)
{
	return tpc_unlikely(tpc_load(&tpc_state.mode) == TPC_MODE_NEW) && tpc_was_started;
}

/* Does this process have a trace, whether or not it is being written to? */
static inline bool tpc_state_has_trace(void)
{
	uint32_t mode = tpc_load(&tpc_state.mode);

	return mode == TPC_MODE_ON || mode == TPC_MODE_STOPPED || mode == TPC_MODE_PAUSED || mode == TPC_MODE_WAITING;
}

/* Has the kernel zero the state page in children. Once, before mode leaves NEW. */
void tpc_state_protect(void);

/* The kernel can't do that (gVisor; Linux before 4.14): a forked child must be told that it is one. */
bool tpc_state_is_unprotected(void);

/* Counts n events lost for `cause`. Any thread, any time. */
void tpc_lost(enum tprof_lost cause, uint64_t n);

/* Counts n events that came after recording was stopped. */
void tpc_lost_stopped(uint64_t n);

/*
 * The time since `ticks` (of the clock, not shifted) was spent on work that belongs to no event; counts it as tprof's
 * cost. Any thread. If the task was interrupted meanwhile, that is included.
 */
TPC_SLOW void tpc_spent(uint64_t ticks);

/*
 * Switches from ON to PAUSED, or from PAUSED or WAITING to ON. False: the mode was another one. Any thread. The caller
 * writes the PAUSE or RESUME event (hooks/gate/control.h). `before_pause` is called when a pause is about to begin, by
 * one thread at a time.
 */
bool tpc_switch(bool on, void (*before_pause)(void));

/* Ends recording early and silently: the program enters a sandbox. No system call is made from then on. */
TPC_SLOW void tpc_seal(void);

/* Ends recording early, and logs the reason once. Any thread. */
TPC_SLOW void tpc_stop(enum tprof_lost cause, const char *reason);

#endif
