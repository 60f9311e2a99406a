/* SPDX-License-Identifier: Apache-2.0 */
/* Work that consists of independent items, done by several threads. */
#ifndef TPROF_BASE_WORKERS_H
#define TPROF_BASE_WORKERS_H

#include <stddef.h>

/* How many processors this process may use; at least 1. */
size_t tpa_processors(void);

/*
 * Calls work() once for each index below `count`, from at most `threads` threads (0: one for each processor), of which the caller's
 * is one. Items begin in order of their index. Returns once all have ended. Where no thread can be started, it goes on with those
 * that there are.
 */
void tpa_workers(size_t threads, size_t count, void (*work)(void *context, size_t index), void *context);

#endif
