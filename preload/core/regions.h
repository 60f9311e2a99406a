/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads /proc/self/smaps: how RSS is distributed over the address space. The kernel walks all page tables for it and
 * writes some 700 bytes for each mapping (5 to 8 ms for a torch process with 1,700 mappings), so it is read rarely: see
 * SHARE in regions.c.
 */
#ifndef TPROF_CORE_REGIONS_H
#define TPROF_CORE_REGIONS_H

#include "core/base.h"

struct tpc_thread;

/* Reads it, if due. `rss`: of the process, just read. Recording (TPC_BUSY_RECORD); no lock, no allocation. */
TPC_SLOW void tpc_regions_due(struct tpc_thread *thread, uint64_t rss);

/* Reads it at the end of the process, unless the process is so short that the user would notice. */
TPC_SLOW void tpc_regions_at_end(struct tpc_thread *thread);

/* In a forked child: files were numbered in the parent's trace. */
void tpc_regions_forget(void);

#endif
