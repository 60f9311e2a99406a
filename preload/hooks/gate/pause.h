/* SPDX-License-Identifier: Apache-2.0 */
/* Pausing and resuming by the program itself; hooks/gate/control.h explains what that means. */
#ifndef TPROF_GATE_PAUSE_H
#define TPROF_GATE_PAUSE_H

/*
 * Does nothing if recording is in that state already. Any thread that is not in a hook; `frame` is the exported
 * function's __builtin_frame_address(0). Keeps errno.
 */
void tpc_pause(const void *frame);
void tpc_resume(const void *frame);

#endif
