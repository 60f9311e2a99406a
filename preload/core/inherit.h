/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment that a started program needs to be recorded in the same run. Programs start others with an
 * environment of their own, which may lack LD_PRELOAD.
 */
#ifndef TPROF_CORE_INHERIT_H
#define TPROF_CORE_INHERIT_H

#include "core/base.h"

/* Called once, at the start of this process: copies the variables that it was given itself. */
void tpc_inherit_start(char *const *environment);

/* The path of libtprof.so; NULL: it was not preloaded by LD_PRELOAD, so nothing is passed on. */
const char *tpc_inherit_library(void);

/* Would a program with this environment be recorded? True if nothing is passed on. */
TPC_SLOW bool tpc_inherit_is_in(char *const *environment);

/*
 * Room for an environment. It lies on the stack because a vfork child has its parent's memory, and because several
 * threads may start programs at once.
 */
struct tpc_inherit {
	const char *list[512];
	char preload[4096];
	void *mapped; /* for one of more variables; NULL: it was not needed */
	size_t mapped_bytes;
};

/*
 * The environment with what is missing added: libtprof.so first in LD_PRELOAD, and the TPROF_* variables that are not
 * set. The program's strings and its list are not changed. Returns `environment` itself if nothing is missing or there
 * is no memory.
 */
TPC_SLOW char *const *tpc_inherit(char *const *environment, struct tpc_inherit *room);

/* For a program whose loader ends at our library: the environment without it. Else as tpc_inherit(). */
TPC_SLOW char *const *tpc_inherit_without(char *const *environment, struct tpc_inherit *room);

/*
 * To be called when the list is no longer needed. If exec succeeds in a vfork child, a list of more than 500 variables
 * is never freed.
 */
TPC_SLOW void tpc_inherit_end(struct tpc_inherit *room);

#endif
