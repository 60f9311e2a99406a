/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own way to pause recording and go on; hooks/gate/control.h says what that means. */
#ifndef TPROF_GATE_PAUSE_H
#define TPROF_GATE_PAUSE_H

/*
 * Nothing if it is so already. Any thread that is not in a hook; `frame` is the exported function's
 * __builtin_frame_address(0). Keep errno.
 */
void tpc_pause(const void *frame);
void tpc_resume(const void *frame);

#endif
