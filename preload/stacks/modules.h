/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects whose code was seen on stacks. Found by _dl_find_object (glibc 2.35), which takes no lock and may be called
 * anywhere; registered in the trace when first seen, and again when another object took the place of an unloaded one.
 */
#ifndef TPROF_STACKS_MODULES_H
#define TPROF_STACKS_MODULES_H

#include "core/base.h"

struct tp_module_at {
	uint32_t module; /* number in the trace; 0: the PC is in no object */
	uintptr_t start;
	const void *eh_frame_hdr; /* NULL: none */
};

struct tp_module_at tp_module_find(uintptr_t pc);

/*
 * Notices what has been unloaded since the last call: writes it down, and forgets its frames. To be called after each
 * dlclose.
 */
void tp_modules_check(void);

/*
 * Around the real dlclose. Another library may stand at the same address before it returns, and run in another thread:
 * until it is over each walk looks for itself what is gone.
 */
void tp_modules_closing(void);
void tp_modules_closed(void);

/* Changes with each unloading: what was remembered by PC before may be wrong. Read with acquire. */
extern uint32_t tp_modules_epoch;

/* To be called when the epoch has changed. Returns the one up to which things may be remembered from now on. */
uint32_t tp_modules_renew(void);

/* In a forked child: nothing is registered in its trace yet. */
void tp_modules_forget(void);

#endif
