/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of the calling thread, joined to its native stack. What is read is this thread's own: the
 * interpreter's state of it is found through the thread-specific key that CPython keeps for PyGILState, which holds with
 * the GIL and without it, and its frames change only by what this thread does.
 */
#ifndef TPROF_HOOKS_PYTHON_STACK_H
#define TPROF_HOOKS_PYTHON_STACK_H

#include "core/thread.h"

extern bool tp_python_on TP_NEAR;	  /* an interpreter was found; false costs a load and a branch */
extern struct tp_range tp_python_runtime; /* its _PyRuntime */

/*
 * tp_walk(), with the thread's Python frames, if it has any, in the node. In a hook: whatever the thread was doing is a
 * call that the interpreter made. `guess`: tp_walk_guess(), or 0.
 */
uint32_t tp_python_stack(struct tp_thread *thread, const void *frame, uint32_t guess);

/* What that will look at next, as far as it is known, is fetched into the cache. */
void tp_python_fetch(const struct tp_thread *thread);

/* The native stack `native` with the Python frames of a thread that was interrupted anywhere, by the sampler's signal. */
TP_SLOW uint32_t tp_python_join_interrupted(struct tp_thread *thread, uint32_t native);

#endif
