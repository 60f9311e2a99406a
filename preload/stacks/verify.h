/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Test build only (libtprof-verify.so): every walk is compared with libunwind's, frame by frame: that of an allocation,
 * and that of a sample, from the ucontext_t which the kernel gave its handler. The plain library has none of this.
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
