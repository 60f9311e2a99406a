/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_HOOKS_MEMORY_JEMALLOC_H
#define TPROF_HOOKS_MEMORY_JEMALLOC_H

/* Hooks jemalloc's own API if jemalloc is loaded. Once, at start, outside any hook. */
void tpc_jemalloc_hook(void);

#endif
