/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the Python frames of the calling thread to its native stack. Reads only what is this thread's own: its
 * interpreter state is found through the thread-specific key that CPython keeps for PyGILState, with or without the
 * GIL, and its frames are changed only by this thread.
 */
#ifndef TPROF_HOOKS_PYTHON_STACK_H
#define TPROF_HOOKS_PYTHON_STACK_H

#include "core/thread.h"

extern tpc_shared_bool tpc_python_on TPC_NEAR; /* an interpreter was found; false costs a load and a branch */
extern struct tpc_range tpc_python_runtime;    /* its _PyRuntime */

/*
 * tpc_walk(), with the thread's Python frames, if any, in the node. In a hook: the thread is in a call that the
 * interpreter made. `guess`: tpc_walk_guess(), or 0.
 */
uint32_t tpc_python_stack(struct tpc_thread *thread, const void *frame, uint32_t guess);

/* Prefetches what that will read next, as far as it is known. */
void tpc_python_fetch(const struct tpc_thread *thread);

/* The native stack `native` with the Python frames of a thread that the sampler's signal interrupted anywhere. */
TPC_SLOW uint32_t tpc_python_join_interrupted(struct tpc_thread *thread, uint32_t native);

#endif
