/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of /proc/self/smaps: which part of the address space has how much of RSS. The kernel goes through all page tables
 * for it, and writes some 700 bytes a mapping (1,700 mappings of a torch process: 5 to 8 ms), so there are few: see
 * SHARE in regions.c.
 */
#ifndef TPROF_CORE_REGIONS_H
#define TPROF_CORE_REGIONS_H

#include "core/base.h"

struct tpc_thread;

/* A reading, if one is due. `rss`: the process's, just read. Recording (TPC_BUSY_RECORD); no lock, no allocation. */
TPC_SLOW void tpc_regions_due(struct tpc_thread *thread, uint64_t rss);

/* The process is about to end: a reading, unless the process is so short that it would be felt. */
TPC_SLOW void tpc_regions_at_end(struct tpc_thread *thread);

/* In a forked child: the numbers of files are its parent's. */
void tpc_regions_forget(void);

#endif
