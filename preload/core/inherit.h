/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program that is started needs in its environment to be recorded in the same run. Programs start others with an
 * environment of their own, without LD_PRELOAD.
 */
#ifndef TPROF_CORE_INHERIT_H
#define TPROF_CORE_INHERIT_H

#include "core/base.h"

/* Once, as this process starts: takes down what it was given itself. */
void tpc_inherit_start(char *const *environment);

/* Path of libtprof.so; NULL: it was not preloaded by LD_PRELOAD, so that nothing is passed on. */
const char *tpc_inherit_library(void);

/* Room for an environment, on the stack: a vfork child has its parent's memory, and other threads start programs too. */
struct tpc_inherit {
	const char *list[512];
	char preload[4096];
	void *mapped; /* for one of more variables; NULL: it was not needed */
	size_t mapped_bytes;
};

/*
 * The environment with what is missing: LD_PRELOAD with libtprof.so before what it has, and the TPROF_* variables that it does
 * not have. The program's own strings stay where they are, and its list as it is. `environment` itself where nothing is
 * missing, or there is no memory.
 */
TPC_SLOW char *const *tpc_inherit(char *const *environment, struct tpc_inherit *room);

/* When the list is no longer needed; where exec succeeds in a vfork child, a list of more than 500 variables is never freed. */
TPC_SLOW void tpc_inherit_end(struct tpc_inherit *room);

#endif
