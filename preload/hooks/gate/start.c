/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/start.h"

#include "core/state.h"
#include "core/thread.h"

#include <errno.h>

void tpc_start(void)
{
	int saved = errno;

	if (tpc_load(&tpc_sealed))
		return; /* a child of a sandboxed process */
	if (!tpc_was_started)
		tpc_state_protect();
	if (tpc_was_started && tpc_self && tpc_self->busy == TPC_BUSY_RECORD)
		return; /* forked by a signal handler that interrupted a recording, which ends first */
	if (!tpc_swap_if(&tpc_state.mode, (uint32_t)TPC_MODE_NEW, (uint32_t)TPC_MODE_STARTING))
		return;
	if (tpc_was_started)
		tpc_lifecycle.child();
	else
		tpc_lifecycle.first();
	errno = saved;
}
