/* SPDX-License-Identifier: Apache-2.0 */
/* Other threads' registers, as far as these wait in calls of functions that are hooked (hooks/leakcheck/stubs.h). */
#ifndef TPROF_LEAKCHECK_REGISTERS_H
#define TPROF_LEAKCHECK_REGISTERS_H

#include "core/thread.h"

enum tpc_waits {
	TPC_RUNS,    /* or nobody can tell */
	TPC_WAITS,   /* in a system call */
	TPC_IS_KEPT, /* and thread->wait is what the registers held when it called the function that waits */
};

struct tpc_waiting {
	uint64_t sp, pc, switches; /* how often the thread has left its processor */
	enum tpc_waits state;
	bool counted; /* there are switches */
	bool sure;    /* TPC_IS_KEPT: no other function can have been called there since, past the stub */
};

/* What that thread does. Makes system calls; the thread may end meanwhile. */
TPC_SLOW struct tpc_waiting tpc_wait_look(const struct tpc_thread *thread);

/* Has the thread waited in that call all the time between? */
TPC_SLOW bool tpc_wait_is_still(const struct tpc_thread *thread, const struct tpc_waiting *earlier);

#endif
