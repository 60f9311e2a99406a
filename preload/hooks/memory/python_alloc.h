/* SPDX-License-Identifier: Apache-2.0 */
/* TPROF_PYTHON=alloc: Python's own allocator, which hands out objects from arenas that malloc knows nothing of. */
#ifndef TPROF_MEMORY_PYTHON_ALLOC_H
#define TPROF_MEMORY_PYTHON_ALLOC_H

#include <link.h>

#include "core/base.h"

/*
 * Puts a layer of ours over the allocators of PyMem_Malloc and PyObject_Malloc, by the way that CPython offers for it
 * (PyMem_SetAllocator; as tracemalloc does). Before the interpreter has started, from no hook. What PYTHONMALLOC or -X dev
 * then put in its place is not recorded.
 */
void tpc_python_record_allocator(const struct dl_phdr_info *object);

#endif
