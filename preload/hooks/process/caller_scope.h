/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the result of a dlopen depend on the caller? By the search order of dlopen(3) and ld.so(8), `$ORIGIN` in the
 * name, and the RUNPATH by which a bare name is searched, are those of the calling object. If an object has an RPATH,
 * what it asks for may also be searched there, and so may the dependencies of that. The program's own RPATH applies to
 * all.
 */
#ifndef TPROF_PROCESS_CALLER_SCOPE_H
#define TPROF_PROCESS_CALLER_SCOPE_H

#include "core/base.h"

/* `asker`: an address in the calling object. True also if that is unknown. Never in a hook of an allocation. */
bool tpc_asker_matters(const char *file, uintptr_t asker);

#endif
