/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter in this process, if there is one. */
#ifndef TPROF_PROCESS_FIND_PYTHON_H
#define TPROF_PROCESS_FIND_PYTHON_H

#include "core/base.h"

/*
 * Looks for CPython in the objects that were loaded since the last time, and turns tpc_python_on. At start and around calls
 * of the loader; takes the loader's lock.
 */
void tpc_python_find(void);

/* In a forked child: a search that another thread of the parent was at. */
void tpc_python_forget(void);

/* Writes into the header of a new trace which Python it is. */
void tpc_python_describe(void);

#endif
