/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running program's trace, and the mailbox in its header: see tprof-trace(5). Nothing but this mailbox and trace/append.h
 * writes to another program's trace.
 */
#ifndef TPROF_TRACE_CONTROL_H
#define TPROF_TRACE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <tprof/format.h>

struct tpa_control {
	struct tprof_header *header; /* mapped shared */
	char path[4096];	     /* of the trace; as the program sees it */
	pid_t pid;
	int fd;
};

/*
 * Finds the trace that the process has mapped and maps its header. False: *error says why (heap string). The process must
 * belong to the caller's user, or the caller be root.
 */
bool tpa_control_open(struct tpa_control *control, pid_t pid, char **error);
void tpa_control_close(struct tpa_control *control);

/* Whether the kernel forbids reading the process's memory. */
bool tpa_control_is_forbidden(pid_t pid);

/* Why a running program may not answer, in words. */
const char *tpa_control_reason(const struct tpa_control *control);

/* The process's frozen fork; 0: there is none. The number in the header is believed only if it is a child of the process. */
pid_t tpa_control_snapshot(const struct tpa_control *control);

bool tpa_control_is_child(const struct tpa_control *control, pid_t pid);

/* Actions that one process at a time may do with a trace. A process that ends loses its lock. */
enum tpa_control_what {
	TPA_CONTROL_REQUEST,
	TPA_CONTROL_SEARCH,
};

/* False: another process has the lock. It is held until tpa_control_close() or tpa_control_unlock(). */
bool tpa_control_lock(const struct tpa_control *control, enum tpa_control_what what);
void tpa_control_unlock(const struct tpa_control *control, enum tpa_control_what what);

enum tpa_control_answer {
	TPA_CONTROL_DONE,
	TPA_CONTROL_WAITING,   /* asked, and not answered yet */
	TPA_CONTROL_BUSY,      /* not asked: another process waits for an answer */
	TPA_CONTROL_CANCELLED, /* the request was withdrawn */
	TPA_CONTROL_ENDED,     /* the process ended */
};

/*
 * Sends a request and waits for the answer, at most that long. A program that records no event in that time is woken by the
 * collector's signal. An earlier request that nobody waits for is withdrawn. `text`: of a mark; NULL: none; longer texts are
 * cut.
 */
enum tpa_control_answer tpa_control_ask(struct tpa_control *control, enum tprof_control what, const char *text,
					uint64_t wait_ms);

/* Whether there is a request that no thread of the program has taken. */
bool tpa_control_stands(const struct tpa_control *control);

/* Withdraws it. False: there is none, or it is being carried out. */
bool tpa_control_cancel(const struct tpa_control *control);

#endif
