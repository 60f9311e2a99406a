/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does it depend on who asks what a dlopen finds? By the search order of dlopen(3) and ld.so(8): `$ORIGIN` in the name, and the
 * RUNPATH by which a bare name is searched, are the asking object's; and where an object has an RPATH, what it asked for may be
 * searched there too, and what that needs in turn. The program's own RPATH holds for all.
 */
#ifndef TPROF_PROCESS_CALLER_SCOPE_H
#define TPROF_PROCESS_CALLER_SCOPE_H

#include "core/base.h"

/* `asker`: an address in the asking object. True also where nobody can tell. Never in a hook of an allocation. */
bool tpc_asker_matters(const char *file, uintptr_t asker);

#endif
