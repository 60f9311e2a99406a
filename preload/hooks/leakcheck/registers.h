/* SPDX-License-Identifier: Apache-2.0 */
/* Other threads' registers, if these wait in hooked functions (hooks/leakcheck/stubs.h). */
#ifndef TPROF_LEAKCHECK_REGISTERS_H
#define TPROF_LEAKCHECK_REGISTERS_H

#include "core/thread.h"

enum tpc_waits {
	TPC_RUNS,    /* or unknown */
	TPC_WAITS,   /* in a system call */
	TPC_IS_KEPT, /* and thread->wait has the registers at its call of the waiting function */
};

struct tpc_waiting {
	uint64_t sp, pc, switches; /* how often the thread has left its processor */
	enum tpc_waits state;
	bool counted; /* `switches` is valid */
	bool sure;    /* TPC_IS_KEPT: no other function can have been called from there since, bypassing the stub */
};

/* Finds out what that thread does. Makes system calls; the thread may end meanwhile. */
TPC_SLOW struct tpc_waiting tpc_wait_look(const struct tpc_thread *thread);

/* Has the thread waited in that call the whole time? */
TPC_SLOW bool tpc_wait_is_still(const struct tpc_thread *thread, const struct tpc_waiting *earlier);

#endif
