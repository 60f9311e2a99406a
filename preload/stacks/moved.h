/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detours of functions that are hooked in their code (arch/x86_64/code_move.h): no unwind table covers them. A thread that is
 * interrupted there is, for a walk, where the moved instruction was. Return addresses never lie there.
 */
#ifndef TPROF_STACKS_MOVED_H
#define TPROF_STACKS_MOVED_H

#include "arch/arch.h"
#include "core/base.h"

/* One detour: of that function, with the first `count` places. */
struct tpc_moved {
	uintptr_t function;
	uint32_t count;
	struct tpc_code_place places[TPC_CODE_PLACES];
};

/*
 * An area of detours, TPC_CODE_MOVED_MAX bytes each, is in use from now on, described by moved[]: both for good. One thread at
 * a time. False: there are too many areas.
 */
bool tpc_moved_add(uintptr_t area, uint32_t detours, const struct tpc_moved *moved);

/* The address in the program's own code that stands for that PC; the PC itself if it lies in no detour. Any thread. */
uintptr_t tpc_moved_original(uintptr_t pc);

#endif
