/* SPDX-License-Identifier: Apache-2.0 */
/* Work that consists of independent items, done by several threads. */
#ifndef TPROF_BASE_WORKERS_H
#define TPROF_BASE_WORKERS_H

#include <stddef.h>
#include <stdint.h>

/* How many processors this process may use; at least 1. */
size_t tpa_processors(void);

/*
 * Calls work() once for each index below `count`, from at most `threads` threads (0: one for each processor), of which the caller's
 * is one. Items begin in order of their index. Returns once all have ended. Where no thread can be started, it goes on with those
 * that there are.
 */
void tpa_workers(size_t threads, size_t count, void (*work)(void *context, size_t index), void *context);

/* The same, but items begin in order of their sizes, the largest first: no thread has a large one left when the others are done. */
void tpa_workers_largest(size_t threads, const uint64_t *sizes, size_t count, void (*work)(void *context, size_t index),
			 void *context);

#endif
