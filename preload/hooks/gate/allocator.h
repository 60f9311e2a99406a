/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the allocator behind the hooks says of itself: jemalloc's statistics (jemalloc(3), "stats"), by mallctl().
 *
 * mallctl() takes locks, as malloc() does. So it is asked only where the thread holds none of them: in a hook of the malloc
 * family or an annotation, beside the real call, when no frame of the stack is jemalloc's (its own calls of mmap, a program's
 * extent hooks) or a signal handler's (which may have interrupted it); with signals blocked meanwhile, so that none leaves it
 * by longjmp; not while libc forks, and not in a child that libc's fork did not make. Its code uses vector registers: not in
 * the hook of an op.
 */
#ifndef TPROF_GATE_ALLOCATOR_H
#define TPROF_GATE_ALLOCATOR_H

#include "core/thread.h"

/* Looks whether there is anybody to ask. At start, once the real functions are known. */
void tpc_allocator_find(void);

/*
 * Records what it says, unless it was asked so lately that this would cost more than one part in 400 of the time; `now`: all
 * the same. The thread is recording (TPC_BUSY_RECORD), and in a function that the program called. Keeps errno.
 */
TPC_SLOW void tpc_allocator_ask(struct tpc_thread *thread, bool now);

#endif
