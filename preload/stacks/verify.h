/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test build only (libtprof-verify.so): compares every walk with libunwind's, frame by frame: of allocations, and of
 * samples, from the ucontext_t that the kernel gave the handler. The plain library contains none of this.
 */
#ifndef TPROF_STACKS_VERIFY_H
#define TPROF_STACKS_VERIFY_H

#include "stacks/walk.h"

#ifdef TPROF_VERIFY
void tpc_verify_walk(const struct tpc_thread *thread, struct tpc_registers at);
void tpc_verify_interrupted(const struct tpc_thread *thread, const void *context);
#else
static inline void tpc_verify_walk(const struct tpc_thread *thread, struct tpc_registers at)
{
	(void)thread;
	(void)at;
}
static inline void tpc_verify_interrupted(const struct tpc_thread *thread, const void *context)
{
	(void)thread;
	(void)context;
}
#endif

#endif
