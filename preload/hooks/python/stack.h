/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of the calling thread, joined to its native stack. What is read is this thread's own: the
 * interpreter's state of it is found through the thread-specific key that CPython keeps for PyGILState, which holds with
 * the GIL and without it, and its frames change only by what this thread does.
 */
#ifndef TPROF_HOOKS_PYTHON_STACK_H
#define TPROF_HOOKS_PYTHON_STACK_H

#include "core/thread.h"

extern tpc_shared_bool tpc_python_on TPC_NEAR; /* an interpreter was found; false costs a load and a branch */
extern struct tpc_range tpc_python_runtime;    /* its _PyRuntime */

/*
 * tpc_walk(), with the thread's Python frames, if it has any, in the node. In a hook: whatever the thread was doing is a
 * call that the interpreter made. `guess`: tpc_walk_guess(), or 0.
 */
uint32_t tpc_python_stack(struct tpc_thread *thread, const void *frame, uint32_t guess);

/* What that will look at next, as far as it is known, is fetched into the cache. */
void tpc_python_fetch(const struct tpc_thread *thread);

/* The native stack `native` with the Python frames of a thread that was interrupted anywhere, by the sampler's signal. */
TPC_SLOW uint32_t tpc_python_join_interrupted(struct tpc_thread *thread, uint32_t native);

#endif
