/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread of another process, stopped by ptrace: its memory and registers, and calls of functions in it. The process's
 * other threads run on. Linux, x86-64.
 */
#ifndef TPROF_ATTACH_TRACEE_H
#define TPROF_ATTACH_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct tpa_tracee {
	pid_t pid, tid;
	struct user_regs_struct registers; /* where it was stopped */
	uint64_t stopped_ns;		   /* CLOCK_MONOTONIC */
};

/* Stops the thread. 0, or an errno; EAGAIN: it did not stop in time (it waits in the kernel), and goes on. */
int tpa_tracee_stop(struct tpa_tracee *tracee, pid_t pid, pid_t tid);

/* Lets it go on where it was stopped. A system call that the stop interrupted is begun again by the kernel. */
void tpa_tracee_release(struct tpa_tracee *tracee);

/*
 * Makes the thread call a function with up to three arguments, and stores what it returned. Waits for as long as that
 * takes. `text` of `text_bytes` is put on its stack first: an argument TPA_TRACEE_TEXT stands for its address. False:
 * the process ended or the function failed by a signal; nothing is left to be released then.
 */
#define TPA_TRACEE_TEXT UINT64_MAX
bool tpa_tracee_call(struct tpa_tracee *tracee, uint64_t function, const uint64_t arguments[3], const void *text,
		     size_t text_bytes, uint64_t *result);

/* Reads a text of the process, at most `size` - 1 bytes; "" if it can't be read. */
void tpa_tracee_text(const struct tpa_tracee *tracee, uint64_t address, char *text, size_t size);

#endif
