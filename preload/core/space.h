/* SPDX-License-Identifier: Apache-2.0 */
/* Address space for the collector's own tables: straight from the kernel, counted in the header. */
#ifndef TPROF_CORE_SPACE_H
#define TPROF_CORE_SPACE_H

#include <tprof/format.h>

#include "core/base.h"

/* Zeroed. NULL: none left (counted as lost). */
void *tpc_space_take(size_t bytes);

/*
 * As tpc_space_take(), for a hash table: its pages are met in no order, and sooner or later all of them. Where a huge page
 * fits, the kernel is asked for one: fewer page faults, and fewer misses of the TLB. The first page is an ordinary one.
 */
void *tpc_space_take_dense(size_t bytes);

/* Address space for whole large pages (of 2 MiB), for tpc_space_gather(). Neither counted nor noted. NULL: none left. */
void *tpc_space_at_border(size_t bytes);

/*
 * The kernel is asked to put the pages of the first of these into a large one, now: for what is met in no order, each time round
 * by a TLB that is full of the program's data. It takes half a millisecond and 2 MiB; kernels before 6.1 say no.
 */
void tpc_space_gather(void *space);

/*
 * For a table that others may still be reading: its pages go back to the kernel, but for those of the first `keep`
 * bytes, the address range stays. A late reader finds zeros, which is an empty slot.
 */
void tpc_space_retire(void *space, size_t bytes, size_t keep);

/* For good: all that was taken at once, or pages of it. Nobody may be reading. */
void tpc_space_give_back(void *space, size_t bytes);

/*
 * The ranges that hold the collector's own memory, those that were retired with them. `note`: one that was taken elsewhere.
 * Beyond 1024 they are forgotten. Any thread.
 */
void tpc_space_note(const void *space, size_t bytes);
size_t tpc_space_list(struct tprof_range *list, size_t room);

#endif
