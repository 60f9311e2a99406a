/* SPDX-License-Identifier: Apache-2.0 */
/* TPROF_PYTHON=alloc: Python's own allocator, which hands out objects from arenas; malloc sees only these. */
#ifndef TPROF_MEMORY_PYTHON_ALLOC_H
#define TPROF_MEMORY_PYTHON_ALLOC_H

#include <link.h>

#include "core/base.h"

/*
 * Installs a layer over the allocators of PyMem_Malloc and PyObject_Malloc, as CPython allows (PyMem_SetAllocator;
 * tracemalloc does so too). Before the interpreter has started, not in a hook. If PYTHONMALLOC or -X dev replaces it,
 * nothing is recorded.
 */
void tpc_python_record_allocator(const struct dl_phdr_info *object);

#endif
