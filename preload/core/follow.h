/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are started: which of them can't be recorded, and why. It is said in the trace of who starts them. */
#ifndef TPROF_CORE_FOLLOW_H
#define TPROF_CORE_FOLLOW_H

#include <tprof/format.h>

#include "core/base.h"

/* A program as exec is told of it. */
struct tpc_started {
	int directory; /* AT_FDCWD, or what a relative path is in */
	const char *path;
	char *const *search; /* the environment whose PATH is searched for a name without a slash; NULL: it is not */
};

/* Why it can't be recorded; 0: it can, or nobody knows, as where it can't be read or is not there. */
TPC_SLOW enum tprof_unfollowed tpc_follow(const struct tpc_started *started);

/*
 * Puts that into a header: of this process, or of the one that it is a fork of. Returns what tpc_follow_undo() takes if the
 * program was not started after all; NULL: there was no room.
 */
TPC_SLOW struct tprof_untraced *tpc_follow_note(struct tprof_header *header, uint32_t pid, enum tprof_unfollowed why,
						const char *name);
TPC_SLOW void tpc_follow_undo(struct tprof_untraced *note);

#endif
