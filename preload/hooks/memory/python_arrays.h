/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numpy's arrays, where Python's own objects are recorded too (TPROF_PYTHON=alloc). numpy keeps freed buffers of small arrays
 * and hands them out again, which malloc does not see. But it tells tracemalloc of each buffer that it hands out or takes back,
 * whether that listens or not (numpy 1.22 and later; numpy/core/src/multiarray/alloc.c): what is hooked is these calls. A
 * buffer is then a pool's block, and the block of malloc's under it is the pool.
 */
#ifndef TPROF_MEMORY_PYTHON_ARRAYS_H
#define TPROF_MEMORY_PYTHON_ARRAYS_H

#include "core/base.h"

/* What a slot of that symbol shall point to, that leads to `target`; NULL: no such function. With the loader's lock. */
void *tpc_python_array_hook(const char *symbol, void *target);

/* Is the symbol one of them, and wanted? */
bool tpc_python_array_symbol(const char *symbol);

/* Is it what tpc_python_array_hook() gave? */
bool tpc_python_array_is_hook(const void *address);

#endif
