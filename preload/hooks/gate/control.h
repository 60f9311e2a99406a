/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording switched off and on again while the program runs: by the program itself, or from outside, by the mailbox in the
 * trace's header (`tprof ctl`). Nobody waits for anything: whichever thread has an event looks into the mailbox, in a pause
 * as the request has opened the gate.
 */
#ifndef TPROF_GATE_CONTROL_H
#define TPROF_GATE_CONTROL_H

#include "core/state.h"
#include "core/thread.h"

/*
 * Pauses, and goes on. Between, only what ends something is recorded (tpc_enter_end()): frees, unmappings, ends of ops, and
 * reallocations, which a reader takes if it knows the old block. So what was recorded before is followed to its end, and is
 * not unfreed by mistake; of what begins in a pause nothing is known. The events PAUSE and RESUME tell where it was. The thread is
 * recording (TPC_BUSY_RECORD). False: there was nothing to switch.
 *
 * So an allocation or an op in a pause costs a load, a branch and a jump (tpc_gate()), and the first free of an address a whole
 * event: whether its block was recorded could only be told by a table of all blocks that were, which each allocation would
 * pay for all the time. Later frees of that address cost a look into a table beside (hooks/gate/paused_frees.h); and paused from
 * the start on (TPROF_START=off) none costs more than to know the blocks of the time before the real functions were found.
 */
TPC_SLOW bool tpc_control_pause(struct tpc_thread *thread);
TPC_SLOW bool tpc_control_resume(struct tpc_thread *thread);

/* Is there a request that nobody has taken yet? Mode is ON, PAUSED or WAITING. */
static inline bool tpc_control_waits(void)
{
	return tpc_load(&tpc_header->control_asked) != tpc_load(&tpc_header->control_taken);
}

struct tpc_hand;

/*
 * Carries out a request if there is one. The thread is recording (TPC_BUSY_RECORD). `hand`: see hooks/leakcheck/leak_snapshot.h; NULL: nothing.
 */
TPC_SLOW void tpc_control_answer(struct tpc_thread *thread, const struct tpc_hand *hand);

#endif
