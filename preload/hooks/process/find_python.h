/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the Python interpreter in this process. */
#ifndef TPROF_PROCESS_FIND_PYTHON_H
#define TPROF_PROCESS_FIND_PYTHON_H

#include "core/base.h"

/*
 * Looks for CPython in newly loaded objects, and sets tpc_python_on. At start and at calls of the loader; takes the
 * loader's lock.
 */
void tpc_python_find(void);

/* In a forked child: ends a search by another thread of the parent. */
void tpc_python_forget(void);

/* Writes the version of Python into the header of a new trace. */
void tpc_python_describe(void);

#endif
