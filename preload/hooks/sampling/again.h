/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that our signal interrupted, and that the kernel ends with EINTR though the handler restarts calls (signal(7)):
 * epoll_wait, poll, sleeps and others. The program is to notice nothing, so they are made again.
 */
#ifndef TPROF_HOOKS_SAMPLING_AGAIN_H
#define TPROF_HOOKS_SAMPLING_AGAIN_H

#include <ucontext.h>

/* If that is where the signal came: the handler's return leads back into the call. One with a time limit that the kernel does not
 * count down waits for that long again. */
void tpc_again(ucontext_t *context);

#endif
