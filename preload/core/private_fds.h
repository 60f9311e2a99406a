/* SPDX-License-Identifier: Apache-2.0 */
/* Work with descriptors of its own, for when the process has none left, or other threads may come to know of them. */
#ifndef TPROF_CORE_PRIVATE_FDS_H
#define TPROF_CORE_PRIVATE_FDS_H

#include "core/base.h"

/*
 * Calls work(context) in a task that has this process's memory, and a copy of its descriptors: what it opens and closes is
 * nobody's but its own, and gone when it ends. The calling thread waits for it meanwhile, as in vfork(). `work` makes system
 * calls of core/sys.h, and nothing else of the kernel's or of libc's. False: there is no such task to be had.
 */
TPC_SLOW bool tpc_private_fds(void (*work)(void *context), void *context);

/*
 * What opens files. The lowest free number, which a file gets, is for that moment not the program's: another thread may count on
 * it and get another one, or put a file of its own there by dup2(), and what is read and closed here is that. So while there
 * are other threads, it is done apart, which takes some 100 microseconds.
 */
TPC_SLOW void tpc_private_fds_from_threads(void (*work)(void *context), void *context);

/*
 * The same in a task that is one of this process's threads: of other threads the kernel tells these what it tells other processes
 * only where they may trace them (/proc/self/task/TID/syscall; Yama).
 */
TPC_SLOW void tpc_private_fds_as_thread(void (*work)(void *context), void *context);

#endif
