/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's state of the calling thread, found by the thread-specific key or variable that CPython keeps for
 * PyGILState_Ensure(), with or without the GIL.
 */
#ifndef TPROF_HOOKS_PYTHON_STATE_H
#define TPROF_HOOKS_PYTHON_STATE_H

#include "core/base.h"

struct tpc_python_key { /* Py_tss_t */
	int32_t made;
	uint32_t key;
};

typedef TPC_SHARED(const struct tpc_python_key *) tpc_python_key_pointer;
extern tpc_python_key_pointer tpc_python_key; /* NULL: not found yet */

/*
 * 3.15 and later keep the state in a thread-local variable, at this distance from what pthread_self() points to; 0: a
 * key is used. Set before the first stack is walked.
 */
extern int32_t tpc_python_slot;

/*
 * Reads the variable, or looks for the key: at its known offset, else in all of _PyRuntime; the right key leads a
 * thread to a state that belongs to it. The calling thread's PyThreadState; 0: it has none, or no search was made this
 * time.
 */
TPC_SLOW uintptr_t tpc_python_find_key(void);

/*
 * Up to 3.11 the key leads to the state of the thread's first interpreter, whichever it runs. If another state holds
 * the GIL (`current`), it is another thread's, or this thread's in a subinterpreter. Returns the state that counts.
 */
TPC_SLOW uintptr_t tpc_python_which(uintptr_t state, uintptr_t current);

#endif
