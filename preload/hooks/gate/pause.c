/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/gate/pause.h"

#include "hooks/gate/control.h"
#include "hooks/gate/enter.h"
#include "hooks/gate/start.h"

void tp_pause(const void *frame)
{
	struct tp_thread *thread = tp_enter(frame);

	if (!thread)
		return;
	tp_record(thread, tp_clock_before());
	tp_control_pause(thread);
	tp_leave(thread);
}

void tp_resume(const void *frame)
{
	struct tp_thread *thread;

	tp_start();
	if (tp_load(&tp_sealed)) /* no system calls any more */
		return;
	thread = tp_enter_off(frame);
	if (!thread)
		return;
	tp_record(thread, tp_clock_before());
	tp_control_resume(thread);
	tp_leave(thread);
	tp_lifecycle.resumed(frame);
}
