/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork that stands still, so that somebody else can search its memory for blocks that nothing points to. The program goes
 * on; it has been stopped for as long as a fork takes.
 */
#ifndef TPROF_LEAKCHECK_LEAK_SNAPSHOT_H
#define TPROF_LEAKCHECK_LEAK_SNAPSHOT_H

#include "core/base.h"

/*
 * What of the program's nobody has but the collector, while the thread is in it. The search begins where the program called us:
 * the registers that calls keep are found by unwinding from here, and nothing else in our frames is looked at, as what is left
 * in them of earlier calls' frames may be anything.
 */
struct tpc_hand {
	const uint64_t *words; /* arguments not yet given on, or a result not yet returned; TPROF_IN_HAND at most */
	size_t count;
	const void *moving;  /* a block whose FREE is written, and whose reallocation is still to come */
	const void *context; /* ucontext_t of a signal that interrupted the program: its registers are there */
};

/* The interpreter whose objects the search names. */
extern struct tprof_python tpc_leak_snapshot_python;

/*
 * Makes it; header.snapshot_pid says which process it is, or snapshot_error why there is none. It ends when it is killed, or
 * after two minutes. One thread at a time. `hand` NULL: nothing.
 */
TPC_SLOW void tpc_leak_snapshot(const struct tpc_hand *hand);

/* The same for TPROF_LEAKCHECK=step:N, once; tprof-analyze searches it while the program runs on. */
TPC_SLOW void tpc_leak_snapshot_step(const struct tpc_hand *hand);

/* Reaps the last one if it has ended. A load and a branch where there was none. */
void tpc_leak_snapshot_reap(void);

/*
 * At the process's end (TPROF_LEAKCHECK=exit): makes one, has tprof-analyze search it, and waits until that is done. `caller`: the
 * address in exit() that the handler was called from.
 */
TPC_SLOW void tpc_leak_snapshot_check(const void *caller);

#endif
