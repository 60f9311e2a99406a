/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts system calls that our signal interrupted and that the kernel ends with EINTR although the handler restarts
 * calls (signal(7)): epoll_wait, poll, sleeps and others. The program must not notice the signal.
 */
#ifndef TPROF_HOOKS_SAMPLING_AGAIN_H
#define TPROF_HOOKS_SAMPLING_AGAIN_H

#include <ucontext.h>

/*
 * If the signal interrupted such a call, the handler will return into the call. If the kernel does not count its time
 * limit down, it waits for the whole time again.
 */
void tpc_again(ucontext_t *context);

#endif
