/* SPDX-License-Identifier: Apache-2.0 */
/* Other threads' registers, as far as these wait in calls of functions that are hooked (hooks/leakcheck/stubs.h). */
#ifndef TPROF_LEAKCHECK_REGISTERS_H
#define TPROF_LEAKCHECK_REGISTERS_H

#include "core/thread.h"

enum tp_waits {
	TP_RUNS,    /* or nobody can tell */
	TP_WAITS,   /* in a system call */
	TP_IS_KEPT, /* and thread->wait is what the registers held when it called the function that waits */
};

struct tp_waiting {
	uint64_t sp, pc, switches; /* how often the thread has left its processor */
	enum tp_waits state;
	bool counted; /* there are switches */
	bool sure;    /* TP_IS_KEPT: no other function can have been called there since, past the stub */
};

/* What that thread does. Makes system calls; the thread may end meanwhile. */
TP_SLOW struct tp_waiting tp_wait_look(const struct tp_thread *thread);

/* Has the thread waited in that call all the time between? */
TP_SLOW bool tp_wait_is_still(const struct tp_thread *thread, const struct tp_waiting *earlier);

#endif
