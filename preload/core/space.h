/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the collector's own tables: taken from the kernel, and counted in the header. */
#ifndef TPROF_CORE_SPACE_H
#define TPROF_CORE_SPACE_H

#include <tprof/format.h>

#include "core/base.h"

/* Zeroed memory. NULL: none left (counted as lost). */
void *tpc_space_take(size_t bytes);

/*
 * Like tpc_space_take(), for a hash table, whose pages are all used sooner or later, in no order. Asks the kernel for
 * huge pages where they fit: fewer page faults and TLB misses. The first page is an ordinary one.
 */
void *tpc_space_take_dense(size_t bytes);

/* Address space for whole large pages (2 MiB), for tpc_space_gather(). Neither counted nor noted. NULL: none left. */
void *tpc_space_at_border(size_t bytes);

/*
 * Asks the kernel to move the first 2 MiB into one large page now: for data that is used in no order, while the TLB is
 * full of the program's pages. Takes half a millisecond and 2 MiB; kernels before 6.1 refuse.
 */
void tpc_space_gather(void *space);

/*
 * Frees a table that others may still read: returns its pages to the kernel, except for the first `keep` bytes, and
 * keeps the address range. A late reader finds zeros, which are empty slots.
 */
void tpc_space_retire(void *space, size_t bytes, size_t keep);

/* Frees memory for good: all that was taken at once, or pages of it. Nobody may read it any more. */
void tpc_space_give_back(void *space, size_t bytes);

/*
 * The list of ranges that hold the collector's own memory, including retired ones. tpc_space_note() adds a range that
 * was taken elsewhere. Beyond 1024 ranges they are forgotten. Any thread.
 */
void tpc_space_note(const void *space, size_t bytes);
size_t tpc_space_list(struct tprof_range *list, size_t room);

#endif
