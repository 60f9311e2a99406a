/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/start.h"

#include "core/state.h"
#include "core/thread.h"

#include <errno.h>

void tp_start(void)
{
	int saved = errno;

	if (tp_load(&tp_sealed))
		return; /* a child of a sandbox's */
	if (!tp_was_started)
		tp_state_protect();
	if (tp_was_started && tp_self && tp_self->busy == TP_BUSY_RECORD)
		return; /* forked by a signal handler that came into a recording: its end comes first */
	if (!tp_swap_if(&tp_state.mode, (uint32_t)TP_MODE_NEW, (uint32_t)TP_MODE_STARTING))
		return;
	if (tp_was_started)
		tp_lifecycle.child();
	else
		tp_lifecycle.first();
	errno = saved;
}
