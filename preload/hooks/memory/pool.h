/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of the program's own allocators, as reported by annotations (include/tprof.h). Sampled like other blocks if
 * TPROF_ALLOC says so.
 */
#ifndef TPROF_HOOKS_MEMORY_POOL_H
#define TPROF_HOOKS_MEMORY_POOL_H

#include <stddef.h>

/* `frame` is the frame of the function that the program called. */
void tpc_pool_alloc(const void *frame, const void *pool, const void *block, size_t size);
void tpc_pool_free(const void *frame, const void *block);

/* All blocks of the pool end. */
void tpc_pool_reset(const void *frame, const void *pool);

#endif
