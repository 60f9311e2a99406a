/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numpy's arrays, if Python's own objects are recorded too (TPROF_PYTHON=alloc). numpy keeps freed buffers of small
 * arrays and hands them out again, which malloc does not see. But it reports each buffer that it hands out or takes
 * back to tracemalloc, even if that is off (numpy 1.22 and later; numpy/core/src/multiarray/alloc.c). These calls are
 * hooked. A buffer is then a block of a pool, and the malloc block below it is the pool.
 */
#ifndef TPROF_MEMORY_PYTHON_ARRAYS_H
#define TPROF_MEMORY_PYTHON_ARRAYS_H

#include "core/base.h"

/*
 * What a slot of that symbol, which leads to `target`, shall point to; NULL: none of these functions. With the loader's
 * lock.
 */
void *tpc_python_array_hook(const char *symbol, void *target);

/* Is the symbol one of them, and wanted? */
bool tpc_python_array_symbol(const char *symbol);

/* Is it what tpc_python_array_hook() gave? */
bool tpc_python_array_is_hook(const void *address);

#endif
