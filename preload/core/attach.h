/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread begins to record, and goes on: its struct, its chunks, the stack that it is on.
 *
 * circle: a record may need a new chunk, and a chunk begins with records of its own and ends the counting of calls in the old
 * one, so core/emit.h, core/counters.h, core/scope.h, core/fold.h and this file include each other.
 */
#ifndef TPROF_CORE_ATTACH_H
#define TPROF_CORE_ATTACH_H

#include "core/thread.h"

/* The thread's struct, made or taken over from a dead thread. NULL: no memory; counted. */
TPC_SLOW struct tpc_thread *tpc_thread_attach(void);

/*
 * The recording of an event was left half-way, by a longjmp out of a signal handler. What was committed stands; the rest
 * of the thread's state is begun anew.
 */
TPC_SLOW void tpc_thread_recover(struct tpc_thread *thread);

/* In a forked child: this thread is the only one, and what it recorded belongs to the parent. */
void tpc_threads_forget(struct tpc_thread *survivor);

/* Puts a new chunk in place of a full one. False: recording has stopped. */
TPC_SLOW bool tpc_thread_new_chunk(struct tpc_thread *thread);

/*
 * Makes thread->bounds hold `frame`: the thread's own stack, or what lies around the frame on a stack that it was switched
 * to (a coroutine's, a signal handler's); how far that can be read the walker asks each time.
 */
TPC_SLOW void tpc_thread_find_stack(struct tpc_thread *thread, uintptr_t frame);

/* Called for each thread that attaches, once it is ready to record; NULL: nobody. Set once, at start. */
extern void (*tpc_thread_attached)(struct tpc_thread *thread);

#endif
