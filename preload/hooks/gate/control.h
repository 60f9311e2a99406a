/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches recording off and on while the program runs: by the program itself, or from outside, by the mailbox in the
 * trace's header (`tprof ctl`). Nothing waits: any thread that has an event checks the mailbox. During a pause a
 * request opens the gate, so that events check it too.
 */
#ifndef TPROF_GATE_CONTROL_H
#define TPROF_GATE_CONTROL_H

#include "core/state.h"
#include "core/thread.h"

/*
 * Pause and resume. During a pause only ends are recorded (tpc_enter_end()): frees, unmappings, ends of ops, and
 * reallocations, which a reader uses if it knows the old block. So what was recorded before is followed to its end and
 * not reported as unfreed by mistake; nothing is known of what begins in a pause. The events PAUSE and RESUME mark it.
 * The thread is recording (TPC_BUSY_RECORD). False: there was nothing to switch.
 *
 * So an allocation or an op in a pause costs a load, a branch and a jump (tpc_gate()), and the first free of an address
 * costs an event: to know whether its block was recorded would take a table of all recorded blocks, which every
 * allocation would pay for at all times. Later frees of the address cost a look into another table
 * (hooks/gate/paused_frees.h). If recording is paused from the start (TPROF_START=off), frees cost only what it takes
 * to recognize blocks from before the real functions were found.
 */
TPC_SLOW bool tpc_control_pause(struct tpc_thread *thread);
TPC_SLOW bool tpc_control_resume(struct tpc_thread *thread);

/* Is there a request that no thread has taken yet? Mode is ON, PAUSED or WAITING. */
static inline bool tpc_control_waits(void)
{
	return tpc_load(&tpc_header->control_asked) != tpc_load(&tpc_header->control_taken);
}

struct tpc_hand;

/*
 * Carries out a request, if there is one. The thread is recording (TPC_BUSY_RECORD). `hand`: see
 * hooks/leakcheck/leak_snapshot.h; may be NULL.
 */
TPC_SLOW void tpc_control_answer(struct tpc_thread *thread, const struct tpc_hand *hand);

#endif
