/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the statistics of the allocator behind the hooks: jemalloc's (jemalloc(3), "stats"), by mallctl().
 *
 * mallctl() takes locks, as malloc() does. So it is called only where the thread holds none of them: in a hook of the
 * malloc family or of an annotation, outside the real call, and only if no frame on the stack belongs to jemalloc (its
 * own calls of mmap, a program's extent hooks) or to a signal handler (which may have interrupted jemalloc). Signals
 * are blocked meanwhile, so that no handler leaves it by longjmp. Not while libc forks, and not in a child that libc's
 * fork() did not make. Its code uses vector registers, so it is not called in the hook of an op.
 */
#ifndef TPROF_GATE_ALLOCATOR_H
#define TPROF_GATE_ALLOCATOR_H

#include "core/thread.h"

/* Finds out whether there is such an allocator. At start, once the real functions are known. */
void tpc_allocator_find(void);

/*
 * Records the statistics, unless the last record was so recent that this one would take more than 1/400 of the time;
 * `now`: in any case. The thread is recording (TPC_BUSY_RECORD), in a function that the program called. Keeps errno.
 */
TPC_SLOW void tpc_allocator_ask(struct tpc_thread *thread, bool now);

#endif
