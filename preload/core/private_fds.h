/* SPDX-License-Identifier: Apache-2.0 */
/* Does work with a private set of descriptors, for when the process has none left or other threads could interfere. */
#ifndef TPROF_CORE_PRIVATE_FDS_H
#define TPROF_CORE_PRIVATE_FDS_H

#include "core/base.h"

/*
 * Calls work(context) in a task that shares this process's memory and has a copy of its descriptors: what it opens and
 * closes affects nobody, and disappears when it ends. The calling thread waits meanwhile, as in vfork(). `work` may
 * make system calls of core/sys.h, and use nothing else of the kernel or of libc. False: there was no such task.
 */
TPC_SLOW bool tpc_private_fds(void (*work)(void *context), void *context);

/*
 * For work that opens files. A file gets the lowest free descriptor. Another thread of the program may count on that
 * number, or put a file of its own there by dup2(), which would then be read and closed here. So while there are other
 * threads, the work is done in such a task, which takes some 100 microseconds.
 */
TPC_SLOW void tpc_private_fds_from_threads(void (*work)(void *context), void *context);

/*
 * The same in a task that is one of this process's threads. About other threads the kernel tells those more than it
 * tells processes that may not trace them (/proc/self/task/TID/syscall; Yama).
 */
TPC_SLOW void tpc_private_fds_as_thread(void (*work)(void *context), void *context);

#endif
