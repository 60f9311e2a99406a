/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When recording starts. Any hook may be the first one of the process, so every room can start the recording; what starting
 * means is known only to the topmost room, which defines the table of functions below.
 */
#ifndef TPROF_GATE_START_H
#define TPROF_GATE_START_H

#include "core/base.h"

/*
 * Starts recording if the mode is NEW: at the first hooked call of the process, and again in a forked child. Keeps errno. Any
 * thread may call it; only one does the work.
 */
TPC_SLOW void tpc_start(void);

struct tpc_lifecycle {
	void (*first)(void);		    /* the process starts recording; leaves the mode set */
	void (*child)(void);		    /* the same in a forked child, whose only thread calls this */
	void (*pausing)(void);		    /* a pause is about to begin; one thread at a time */
	void (*resumed)(const void *frame); /* recording went on; the thread is in no hook */
};

/* Constant, as the first call may come before any of the library's constructors. Defined in hooks/process/lifecycle.c. */
extern const struct tpc_lifecycle tpc_lifecycle TPC_NEAR;

#endif
