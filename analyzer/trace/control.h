/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running program's trace, and the mailbox in its header: see tprof-trace(5). The only place where a trace is written to by
 * anybody but the program itself; no more of it than the mailbox.
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
 * Finds the trace that the process has mapped and maps its header. False: *error says why (a heap string, the caller frees;
 * NULL if memory is out). The process must be the caller's own user's, or the caller root.
 */
bool tpa_control_open(struct tpa_control *control, pid_t pid, char **error);
void tpa_control_close(struct tpa_control *control);

/* Does the kernel forbid to look into the process's memory? */
bool tpa_control_is_forbidden(pid_t pid);

/* Why a program that lives may not answer, in words. */
const char *tpa_control_reason(const struct tpa_control *control);

/* The fork of the process that stands still; 0: there is none. What the header says is believed if it is its child. */
pid_t tpa_control_snapshot(const struct tpa_control *control);

bool tpa_control_is_child(const struct tpa_control *control, pid_t pid);

/* What one process at a time may do with a trace; whoever ends lets go of it. */
enum tpa_control_what {
	TPA_CONTROL_REQUEST,
	TPA_CONTROL_SEARCH,
};

/* False: somebody else does. It is held until tpa_control_close(), or tpa_control_unlock(). */
bool tpa_control_lock(const struct tpa_control *control, enum tpa_control_what what);
void tpa_control_unlock(const struct tpa_control *control, enum tpa_control_what what);

enum tpa_control_answer {
	TPA_CONTROL_DONE,
	TPA_CONTROL_WAITING,   /* asked, and not answered yet */
	TPA_CONTROL_BUSY,      /* not asked: somebody else waits for an answer right now */
	TPA_CONTROL_CANCELLED, /* somebody took it back */
	TPA_CONTROL_ENDED,     /* the process ended */
};

/*
 * Asks, and waits for at most so long. A program that has no event in the time is woken by its signal. An earlier request that
 * stands, and that nobody waits for, is taken back. `text`: of a mark; NULL: none. Longer ones are cut.
 */
enum tpa_control_answer tpa_control_ask(struct tpa_control *control, enum tprof_control what, const char *text,
					uint64_t wait_ms);

/* Does a request stand that no thread of the program has taken? */
bool tpa_control_stands(const struct tpa_control *control);

/* Takes it back. False: there is none, or it is being carried out. */
bool tpa_control_cancel(const struct tpa_control *control);

#endif
