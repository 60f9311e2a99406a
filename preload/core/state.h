/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the process's recording: the one word that every hook asks, and the header of the trace. */
#ifndef TPROF_CORE_STATE_H
#define TPROF_CORE_STATE_H

#include <tprof/format.h>

#include "core/base.h"
#include "core/rss_cache.h"

enum tpc_mode {
	TPC_MODE_NEW = 0,  /* not started, or a forked child that does not know it yet: the kernel zeroed the page */
	TPC_MODE_STARTING, /* a thread is at it */
	TPC_MODE_ON,
	TPC_MODE_OFF,	  /* not to be recorded: TPROF_EXE, TPROF_CHILDREN, no trace file */
	TPC_MODE_STOPPED, /* recording ended early: disk full, ... ; what follows is counted */
	TPC_MODE_PAUSED,  /* the user does not want it now: only what ends what was recorded before is */
	TPC_MODE_WAITING, /* paused from the start on: there is nothing that could end */
};

/* A page of its own: MADV_WIPEONFORK gives a child zeros, however it was made. */
struct tpc_state {
	tpc_shared_u32 mode; /* enum tpc_mode */
	uint32_t pid;
	tpc_shared_u64 next_memory_sample; /* ticks; 0: never, in a pause, so that each event is looked at closer */
	tpc_shared_u64 next_resident;	   /* the same, of what RSS is made of; all ones: a thread is at it */
	tpc_shared_u64 next_allocator;	   /* the same, of what the allocator says of itself */
	tpc_shared_u64 next_regions;	   /* the same, of smaps (core/regions.h); all ones: it can't be read */
	tpc_shared_u64 last_regions;	   /* when that was read last; 0: it was not */
	struct tpc_rss_cache still;	   /* of the last sample of memory */
	tpc_shared_u64 rss, vms, shared;   /* its numbers, bytes, */
	tpc_shared_u64 changes;		   /* and tpc_resident_changes() then */
	tpc_shared_u32 switching;	   /* 1: a thread is in tpc_switch() */
	tpc_shared_u32 by_libc; /* 1: the first process, or a child whose fork libc and the allocator know of */
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
 * Where the trace's header is mapped: in the library's own data, so that a hook reaches the one word that it looks at first
 * (tpc_gate()) without asking where it is. Zeros when there is no trace, which is an open gate.
 */
extern union tpc_header_area {
	struct tprof_header h;
	char pages[TPROF_HEADER_SIZE];
} __attribute__((aligned(TPC_PAGE))) tpc_header_area TPC_NEAR;

/*
 * What is to be passed by (enum tprof_gate): 0 while recording is on, and where a request waits. In the header and not in
 * the state's page, so that `tprof ctl` can open it. Acquire: pairs with tpc_gate_set(); who sees it closed sees the rest of
 * the pause.
 */
TPC_HOT uint32_t tpc_gate(void)
{
	return tpc_load_acquire(&tpc_header_area.h.gate);
}

/* Zeros instead of a header. False: it could not be had. */
TPC_SLOW bool tpc_header_area_clear(void);

/* As the mode wants it; open if a request waits. After each change of the mode that is not to ON. */
TPC_SLOW void tpc_gate_set(void);

/*
 * A child that was forked by a signal handler which came into a recording, and goes back into it: what it would write belongs
 * to its parent's trace, which the parent writes itself (core/forked.h).
 */
static inline bool tpc_state_is_child(void)
{
	return tpc_unlikely(tpc_load(&tpc_state.mode) == TPC_MODE_NEW) && tpc_was_started;
}

/* Is there a trace of this process, whether or not it is written to now? */
static inline bool tpc_state_has_trace(void)
{
	uint32_t mode = tpc_load(&tpc_state.mode);

	return mode == TPC_MODE_ON || mode == TPC_MODE_STOPPED || mode == TPC_MODE_PAUSED || mode == TPC_MODE_WAITING;
}

/* Makes the state page one that forks wipe. Once, before mode leaves NEW. */
void tpc_state_protect(void);

/* The kernel can't wipe (gVisor; Linux before 4.14): a forked child has to be told that it is one. */
bool tpc_state_is_unprotected(void);

/* Counts n things lost for `cause`. Any thread, any time. */
void tpc_lost(enum tprof_lost cause, uint64_t n);

/* Counts n events that came after recording was stopped. */
void tpc_lost_stopped(uint64_t n);

/*
 * What was done since `ticks` (of the clock, not shifted) is no event, and part of what tprof costs. Any thread; where a task
 * was interrupted meanwhile, that is in it.
 */
TPC_SLOW void tpc_spent(uint64_t ticks);

/*
 * Switches from ON to PAUSED, and from PAUSED or WAITING to ON. False: it was not the other of the two. Any thread; the events PAUSE and RESUME are the
 * caller's to write (hooks/gate/control.h). `before_pause` is called when a pause is about to begin, by one thread at a time.
 */
bool tpc_switch(bool on, void (*before_pause)(void));

/* Ends recording early without a word: the program enters a sandbox. What follows makes no system call. */
TPC_SLOW void tpc_seal(void);

/* Ends recording early, says so on stderr once. Any thread. */
TPC_SLOW void tpc_stop(enum tprof_lost cause, const char *reason);

#endif
