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
	int signal;			   /* the program's, that it gets when it goes on; 0: none */
	bool blocked;			   /* see tpa_tracee_block_signals(): `mask` is that of before */
	uint64_t mask;
};

/* Stops the thread. 0, or an errno; EAGAIN: it did not stop in time (it waits in the kernel), and goes on. */
int tpa_tracee_stop(struct tpa_tracee *tracee, pid_t pid, pid_t tid);

/* The same in two steps, for many at once: the first waits for nothing. After an error of it the second must not follow. */
int tpa_tracee_begin_stop(struct tpa_tracee *tracee, pid_t pid, pid_t tid);
int tpa_tracee_end_stop(struct tpa_tracee *tracee);

/* Runs one instruction of a stopped thread. False: it ended, or has a signal to handle, which it will. */
bool tpa_tracee_step(struct tpa_tracee *tracee);

/*
 * Blocks the stopped thread's signals until it is released. The end of a handler's run makes the kernel forget how to go on with
 * a sleep that the stop interrupted, which would end early then.
 */
void tpa_tracee_block_signals(struct tpa_tracee *tracee);

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

/* Reads memory of the process. False: not all of it can be read. */
bool tpa_tracee_read(const struct tpa_tracee *tracee, uint64_t address, void *to, size_t size);

/* Reads a text of the process, at most `size` - 1 bytes; "" if it can't be read. */
void tpa_tracee_text(const struct tpa_tracee *tracee, uint64_t address, char *text, size_t size);

#endif
