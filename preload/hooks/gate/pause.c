/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/pause.h"

#include "hooks/gate/control.h"
#include "hooks/gate/enter.h"
#include "hooks/gate/start.h"

void tpc_pause(const void *frame)
{
	struct tpc_thread *thread = tpc_enter(frame);

	if (!thread)
		return;
	tpc_record(thread, tpc_clock_before());
	tpc_control_pause(thread);
	tpc_leave(thread);
}

void tpc_resume(const void *frame)
{
	struct tpc_thread *thread;

	tpc_start();
	if (tpc_load(&tpc_sealed)) /* no system calls any more */
		return;
	thread = tpc_enter_off(frame);
	if (!thread)
		return;
	tpc_record(thread, tpc_clock_before());
	tpc_control_resume(thread);
	tpc_leave(thread);
	tpc_lifecycle.resumed(frame);
}
