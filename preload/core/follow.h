/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out which of the programs that this process starts can't be recorded, and why. The trace of the starting
 * process says so.
 */
#ifndef TPROF_CORE_FOLLOW_H
#define TPROF_CORE_FOLLOW_H

#include <tprof/format.h>

#include "core/base.h"

/* A program, as passed to exec. */
struct tpc_started {
	int directory; /* of a relative path; AT_FDCWD: the current one */
	const char *path;
	char *const *search; /* environment whose PATH is searched for a name without a slash; NULL: no search */
	bool resets_ids;     /* it gets its starter's real user and group as effective ones */
	bool moves;	     /* it may begin in another working directory */
};

/* Why the program can't be recorded. 0: it can, or that is unknown because the file can't be read or does not exist. */
TPC_SLOW enum tprof_unfollowed tpc_follow(const struct tpc_started *started);

/*
 * Notes it in a header: that of this process, or of the process that this one was forked from. Returns what
 * tpc_follow_undo() takes if the program was not started after all; NULL: there was no room.
 */
TPC_SLOW struct tprof_untraced *tpc_follow_note(struct tprof_header *header, uint32_t pid, enum tprof_unfollowed why,
						const char *name);
TPC_SLOW void tpc_follow_undo(struct tprof_untraced *note);

#endif
