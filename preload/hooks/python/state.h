/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's state of the calling thread, by the thread-specific key or variable that CPython keeps for
 * PyGILState_Ensure(): it leads there with the GIL and without it.
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
 * 3.15 and later keep the state in a thread-local variable, at this distance from what pthread_self() points to; 0: they
 * have a key. Set before the first stack is looked at.
 */
extern int32_t tpc_python_slot;

/*
 * Reads the variable. Else looks for the key: where the version has it, else in all of _PyRuntime; the right one is that by which a thread is led to a
 * state that is its own. The calling thread's PyThreadState; 0: it has none, or it was not looked for this time.
 */
TPC_SLOW uintptr_t tpc_python_find_key(void);

/*
 * Up to 3.11 the key leads to the state of the thread's first interpreter, whichever it runs now. If another state than
 * that holds the GIL (`current`), it is another thread's, or this one's in a subinterpreter. The state that counts.
 */
TPC_SLOW uintptr_t tpc_python_which(uintptr_t state, uintptr_t current);

#endif
