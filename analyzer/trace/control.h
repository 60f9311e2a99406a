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

struct tp_control {
	struct tprof_header *header; /* mapped shared */
	char path[4096];	     /* of the trace; as the program sees it */
	pid_t pid;
	int fd;
};

/*
 * Finds the trace that the process has mapped and maps its header. False: *error says why (a heap string, the caller frees;
 * NULL if memory is out). The process must be the caller's own user's, or the caller root.
 */
bool tp_control_open(struct tp_control *control, pid_t pid, char **error);
void tp_control_close(struct tp_control *control);

/* Does the kernel forbid to look into the process's memory? */
bool tp_control_is_forbidden(pid_t pid);

/* Why a program that lives may not answer, in words. */
const char *tp_control_reason(const struct tp_control *control);

/* The fork of the process that stands still; 0: there is none. What the header says is believed if it is its child. */
pid_t tp_control_snapshot(const struct tp_control *control);

bool tp_control_is_child(const struct tp_control *control, pid_t pid);

/* What one process at a time may do with a trace; whoever ends lets go of it. */
enum tp_control_what {
	TP_CONTROL_REQUEST,
	TP_CONTROL_SEARCH,
};

/* False: somebody else does. It is held until tp_control_close(), or tp_control_unlock(). */
bool tp_control_lock(const struct tp_control *control, enum tp_control_what what);
void tp_control_unlock(const struct tp_control *control, enum tp_control_what what);

enum tp_control_answer {
	TP_CONTROL_DONE,
	TP_CONTROL_WAITING,   /* asked, and not answered yet */
	TP_CONTROL_BUSY,      /* not asked: somebody else waits for an answer right now */
	TP_CONTROL_CANCELLED, /* somebody took it back */
	TP_CONTROL_ENDED,     /* the process ended */
};

/*
 * Asks, and waits for at most so long. A program that has no event in the time is woken by its signal. An earlier request that
 * stands, and that nobody waits for, is taken back. `text`: of a mark; NULL: none. Longer ones are cut.
 */
enum tp_control_answer tp_control_ask(struct tp_control *control, enum tprof_control what, const char *text,
				      uint64_t wait_ms);

/* Does a request stand that no thread of the program has taken? */
bool tp_control_stands(const struct tp_control *control);

/* Takes it back. False: there is none, or it is being carried out. */
bool tp_control_cancel(const struct tp_control *control);

#endif
