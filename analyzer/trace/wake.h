/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program that has no event are woken by the collector's signal, one after the other, to look for a request. */
#ifndef TPROF_TRACE_WAKE_H
#define TPROF_TRACE_WAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tpa_wake {
	pid_t pid, last; /* last: the thread that was woken */
};

/*
 * Sends the signal to the next thread that takes it. Only while the process has a handler for it, or it would be ended. False: no
 * thread takes it.
 */
bool tpa_wake_next(struct tpa_wake *wake, uint64_t number);

/* Is the process stopped, by a signal or a debugger? */
bool tpa_wake_is_stopped(pid_t pid);

#endif
