/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/process/forks.h"

#include "core/state.h"
#include "hooks/gate/enter.h"
#include "hooks/link/loader.h"

#include <errno.h>

static TPC_TLS uint32_t forked_at;

/* A child that did nothing yet has no trace. What it forks counts as its parent's: so does the stack. */
static bool has_own_trace(void)
{
	return tpc_load(&tpc_state.mode) != TPC_MODE_NEW;
}

static void fork_begins(void)
{
	const void *frame = __builtin_frame_address(0);
	struct tpc_thread *thread;
	int saved = errno;

	if (!has_own_trace())
		return;
	forked_at = TPROF_NODE_NONE;
	if (tpc_self && tpc_self->busy) /* by a signal's handler that interrupted a hook; no event is lost */
		return;
	thread = tpc_enter(frame);
	if (thread) {
		tpc_record(thread, tpc_clock_before());
		forked_at = tpc_caller_stack(thread, frame);
		tpc_leave(thread);
	}
	errno = saved;
}

static void fork_ends(void)
{
	if (has_own_trace())
		forked_at = TPROF_NODE_NONE;
}

uint32_t tpc_forks_take(void)
{
	uint32_t node = forked_at;

	forked_at = TPROF_NODE_NONE;
	return node;
}

void tpc_forks_watch(void)
{
	tpc_loader_around_forks(fork_begins, fork_ends);
}
