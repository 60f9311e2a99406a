/* SPDX-License-Identifier: Apache-2.0 */
/* One step outwards on a stack: from a frame's registers to those of its caller, by its rule (stacks/rule.h). */
#ifndef TPROF_STACKS_STEP_H
#define TPROF_STACKS_STEP_H

#include "core/thread.h"
#include "stacks/frames.h"

struct tpc_registers {
	uintptr_t pc, sp, bp;
};

struct tpc_stepper {
	struct tpc_registers at;
	struct tpc_range readable;    /* the stack, from where the walk began */
	bool exact;		      /* at.pc was interrupted and is no return address */
	uint32_t root;		      /* enum tprof_node, set at the end of the walk: how the stack ended */
	const struct tpc_step *first; /* the innermost frame, if all steps are in one array; else NULL */
	uintptr_t context;	      /* the kernel's ucontext, if the innermost frame was interrupted; else 0 */
};

struct tpc_step { /* a frame, and what the step out of it depended on */
	struct tpc_registers at;
	struct tpc_frame frame;
	uintptr_t bp_slot;  /* where the caller's fp was loaded from; 0: not loaded */
	uintptr_t cfa_slot; /* where the CFA was loaded from; 0: not loaded */
	uintptr_t refuted;  /* where a guessed rule would have the return address, and none is; 0: nowhere */
	bool by_bp;	    /* used the frame pointer */
};

/* The registers in the kernel's ucontext. */
struct tpc_registers tpc_step_interrupted(uintptr_t context);

/*
 * Goes from stepper->at to its caller. `step` has that frame, and is zero otherwise. False: the stack ends here. Reads
 * memory only within stepper->readable; a signal's frame may lead from an alternate stack to the thread's own, which is
 * readable from then on. Own thread only.
 */
bool tpc_step_out(struct tpc_stepper *stepper, struct tpc_step *step, const struct tpc_thread *thread);

#endif
