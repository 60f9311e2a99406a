/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which loaded object an address belongs to. _dl_find_object takes no lock and allocates nothing (glibc 2.35); a libc
 * without it knows no objects here, and stacks go by frame pointers alone.
 */
#ifndef TPROF_CORE_OBJECTS_H
#define TPROF_CORE_OBJECTS_H

#include "core/base.h"

#include <dlfcn.h>

#pragma weak _dl_find_object

static inline bool tpc_object_find(uintptr_t address, struct dl_find_object *object)
{
	return _dl_find_object && _dl_find_object((void *)address, object) == 0;
}

#endif
