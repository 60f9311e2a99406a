/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread begins and continues to record: its struct, its chunks, the bounds of its stack.
 *
 * circle: a record may need a new chunk, and a chunk begins with records of its own and ends the counting of calls in the old
 * one, so core/emit.h, core/counters.h, core/scope.h, core/fold.h and this file include each other.
 */
#ifndef TPROF_CORE_ATTACH_H
#define TPROF_CORE_ATTACH_H

#include "core/thread.h"

/* The calling thread's struct: a new one, or a dead thread's. NULL: no memory (counted as lost). */
TPC_SLOW struct tpc_thread *tpc_thread_attach(void);

/*
 * A longjmp out of a signal handler interrupted the recording of an event. Keeps what was committed, and resets the rest of the
 * thread's state.
 */
TPC_SLOW void tpc_thread_recover(struct tpc_thread *thread);

/* In a forked child: only `survivor` is left, and what was recorded belongs to the parent. */
void tpc_threads_forget(struct tpc_thread *survivor);

/*
 * A new trace begins, and all threads live on: each begins anew with its next event. False: a thread is in a hook, and
 * nothing was done. Recording is off, and has been for long enough that no thread is about to enter a hook.
 */
bool tpc_threads_start_over(void);

/* Replaces a full chunk. False: recording has stopped. */
TPC_SLOW bool tpc_thread_new_chunk(struct tpc_thread *thread);

/*
 * Sets thread->bounds so that they contain `frame`: the thread's own stack, or a window around the frame if the thread is on
 * another stack (a coroutine's, a signal handler's). The walker checks each time how far such a window can be read.
 */
TPC_SLOW void tpc_thread_find_stack(struct tpc_thread *thread, uintptr_t frame);

/* Called for each thread that attaches, once it is ready to record. Set once, at start; may be NULL. */
extern void (*tpc_thread_attached)(struct tpc_thread *thread);

#endif
