/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork that stands still, so that another process can search its memory for blocks that nothing points to. The
 * program continues; it was stopped only for the duration of a fork.
 */
#ifndef TPROF_LEAKCHECK_LEAK_SNAPSHOT_H
#define TPROF_LEAKCHECK_LEAK_SNAPSHOT_H

#include "core/base.h"

/*
 * References of the program that only the collector holds while the thread is in it. The search begins where the
 * program called us: callee-saved registers are found by unwinding from here, and nothing else in our frames is
 * searched, because they may contain remains of earlier frames.
 */
struct tpc_hand {
	const uint64_t *words; /* arguments not passed on yet, or a result not returned yet; at most TPROF_IN_HAND */
	size_t count;
	const void *moving;  /* a block whose FREE is written and that will be reallocated */
	const void *context; /* ucontext_t of a signal that interrupted the program, with its registers */
};

/* The interpreter whose objects the search names. */
extern struct tprof_python tpc_leak_snapshot_python;

/*
 * Makes a snapshot; header.snapshot_pid is its process, or snapshot_error tells why there is none. It ends when it is
 * killed, or after two minutes. One thread at a time. `hand` may be NULL.
 */
TPC_SLOW void tpc_leak_snapshot(const struct tpc_hand *hand);

/* The same for TPROF_LEAKCHECK=step:N, once; tprof-analyze searches it while the program continues. */
TPC_SLOW void tpc_leak_snapshot_step(const struct tpc_hand *hand);

/* Reaps the last snapshot if it has ended. A load and a branch if there was none. */
void tpc_leak_snapshot_reap(void);

/*
 * At the end of the process (TPROF_LEAKCHECK=exit): makes a snapshot, lets tprof-analyze search it, and waits for that.
 * `caller`: the address in exit() that called the handler.
 */
TPC_SLOW void tpc_leak_snapshot_check(const void *caller);

#endif
