/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols looked up without dlsym: that one allocates a message, from the program's heap, for each name that is not
 * there.
 */
#ifndef TPROF_CORE_LOOKUP_H
#define TPROF_CORE_LOOKUP_H

#include "core/base.h"

/*
 * The default version's definition of a function in the objects that were loaded behind libtprof.so, in their order:
 * what RTLD_NEXT means at start-up. NULL if there is none.
 */
void *tp_lookup_next(const char *name);

#endif
