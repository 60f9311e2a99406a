/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects whose code was seen on stacks. _dl_find_object (glibc 2.35) finds them; it takes no lock and may be
 * called anywhere. They are registered in the trace when first seen, and again when another object took the place of an
 * unloaded one.
 */
#ifndef TPROF_STACKS_MODULES_H
#define TPROF_STACKS_MODULES_H

#include "core/base.h"

struct tpc_debug_frame;

struct tpc_module_at {
	uint32_t module; /* number in the trace; 0: the PC is in no object, and in no file's code */
	uintptr_t start;
	const void *eh_frame_hdr; /* NULL: none */
};

struct tpc_module_at tpc_module_find(uintptr_t pc);

/* The executable segment of a loaded object that holds `pc`, if it can be read; empty: there is none. */
struct tpc_range tpc_module_code(uintptr_t pc);

/*
 * The module's .debug_frame; the first call for a module reads its file. NULL: there is none. It stays as long as the
 * module.
 */
TPC_SLOW const struct tpc_debug_frame *tpc_module_debug_frame(const struct tpc_module_at *at);

/*
 * To be called before and after the real dlclose. When the last one in progress ends, unloaded objects are recorded and
 * their frames forgotten (`check`: the calling thread may record). Until then another library may already be at the
 * same address, and run in another thread: nothing that was remembered by PC may be used without asking which object it
 * belongs to now.
 */
void tpc_modules_close_begins(void);
void tpc_modules_close_ends(bool check);

extern tpc_shared_u64 tpc_modules_closes; /* high half: ever begun; low half: in progress */

static inline uint32_t tpc_modules_under_way(uint64_t closes)
{
	return (uint32_t)closes;
}

static inline bool tpc_modules_unsettled(void)
{
	return tpc_modules_under_way(tpc_load(&tpc_modules_closes)) != 0;
}

/* To be called when tpc_frames_epoch has changed. Returns the epoch up to which things may be remembered from now on. */
uint32_t tpc_modules_renew(void);

/* In a forked child: nothing is registered in its trace yet. */
void tpc_modules_forget(void);

#endif
