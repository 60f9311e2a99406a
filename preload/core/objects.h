/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the loaded object that contains an address. _dl_find_object takes no lock and allocates nothing (glibc 2.35).
 * With a libc that lacks it no object is found, and stacks are walked by frame pointers alone.
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
