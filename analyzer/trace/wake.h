/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakes the threads of a program that records no event, one after the other, with the collector's signal, to look for a
 * request.
 */
#ifndef TPROF_TRACE_WAKE_H
#define TPROF_TRACE_WAKE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tpa_wake {
	pid_t pid, last; /* last: the thread that was woken */
};

/*
 * Sends the signal to the next thread that accepts it, but only while the process has a handler for it: otherwise the signal
 * would end the process. False: no thread accepts it.
 */
bool tpa_wake_next(struct tpa_wake *wake, uint64_t number);

/* Whether the process is stopped, by a signal or a debugger. */
bool tpa_wake_is_stopped(pid_t pid);

#endif
