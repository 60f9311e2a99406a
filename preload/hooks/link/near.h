/* SPDX-License-Identifier: Apache-2.0 */
/* Memory near to an object's code, and writing to that code, which stays read-only meanwhile. */
#ifndef TPROF_LINK_NEAR_H
#define TPROF_LINK_NEAR_H

#include "core/base.h"

/*
 * Writable memory within 2 GiB of all of `code`: mostly just below, since the heap grows above programs. `bytes` is a
 * multiple of the page. NULL: none is free there, or /proc/self/maps can't be read.
 */
void *tpc_near_take(struct tpc_range code, size_t bytes);

/* The memory, or a part of it, becomes executable, and is writable no longer. False: the system forbids it. */
bool tpc_near_seal(void *memory, size_t bytes);

/*
 * Writes through /proc/self/mem, which makes a private copy of the page. The caller is the only thread, or nothing runs
 * there. False: it can't be written; nothing is changed.
 */
bool tpc_near_write(uintptr_t at, const void *from, size_t bytes);

#endif
