/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long calls of libc's functions that may wait have taken (hooks/leakcheck/stubs.h knows which these are), in processes that are
 * ranks of a job: what a late rank slept in has no samples. Such a call is no op. Nothing is kept of it but its begin, in its own frame:
 * so a call that a longjmp or a cancellation leaves has left nothing behind. If it took a millisecond, a WAITED event is written when it
 * has returned. Within a call that communicates nothing is noted: that is an op, whose time is known.
 */
#ifndef TPROF_HOOKS_OPS_WAITS_H
#define TPROF_HOOKS_OPS_WAITS_H

#include "hooks/ops/select.h"

struct tpc_thread;

/* Are they, in this process? To be asked once TPROF_OPS is known. */
bool tpc_waits_are_timed(void);

/* Describes the function of that name, for its stub. */
void tpc_waits_choose(const char *symbol, struct tpc_op_choice *choice);

/* The signature's `op`: the call begins. */
uint32_t tpc_waits_op(const uintptr_t *frame, bool may_write);

/* A call that is no open op has returned, with that frame. The thread is recording. */
TPC_SLOW void tpc_waits_ended(struct tpc_thread *thread, const uintptr_t *frame, uint64_t ticks);

#endif
