/* SPDX-License-Identifier: Apache-2.0 */
/* Can a program that this process starts create its trace? */
#ifndef TPROF_CORE_WRITABLE_H
#define TPROF_CORE_WRITABLE_H

#include "core/base.h"

/*
 * Will a program with this environment certainly fail to create its trace, because the directory is not there, or closed
 * to its user? False if that is unknown. `moves`: it may begin in another working directory; `resets_ids`: as in struct
 * tpc_started.
 */
TPC_SLOW bool tpc_writable_never(char *const *environment, bool moves, bool resets_ids);

#endif
