/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_ARCH_X86_64_VECTORS_H
#define TPROF_ARCH_X86_64_VECTORS_H

#include <stdint.h>

/* Saves all vector registers while `run` may touch them (libc's memset, the vDSO), between two calls that must not. */
__attribute__((noinline, cold)) void tpc_with_vectors_kept(void (*run)(void *), void *context);

/* How they are saved: found out by the first call. A test may set it. */
extern uint32_t tpc_vectors_kept_by;
enum { TPC_VECTORS_UNKNOWN, TPC_VECTORS_FXSAVE, TPC_VECTORS_XSAVE };

#endif
