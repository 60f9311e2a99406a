/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disk space of a ring, allocated before it is used: if the disk becomes full, there is room for checkpoints, and the ring works
 * within what it has. The file does not grow by it; what is not used when the process ends stays allocated behind its end.
 */
#ifndef TPROF_CORE_AHEAD_H
#define TPROF_CORE_AHEAD_H

#include "core/base.h"

/* The trace was created: it has no chunk yet. */
void tpc_ahead_begin(void);

/* Allocates space for the first `places` chunks. Returns for how many of them there is some: fewer if the disk is full. Any thread. */
TPC_SLOW uint64_t tpc_ahead_allocate(uint64_t places);

#endif
