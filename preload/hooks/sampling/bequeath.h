/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads and programs inherit of our signal. The program may have blocked or ignored it, which we only note down: before
 * a thread or a program starts, the kernel must know of it.
 */
#ifndef TPROF_HOOKS_SAMPLING_BEQUEATH_H
#define TPROF_HOOKS_SAMPLING_BEQUEATH_H

#include "core/base.h"

struct tpc_thread;

/*
 * Is the signal blocked in the calling thread, as far as the program knows? A vfork child has a mask of its own and its
 * parent's memory: what it blocks is noted beside what its parent has blocked.
 */
bool tpc_cpu_blocked(struct tpc_thread *thread);
void tpc_cpu_note_blocked(struct tpc_thread *thread, bool blocked);

/* Unblocks the signal in the calling thread, which may have inherited it blocked; the program goes on to see it blocked. */
void tpc_cpu_unblock(struct tpc_thread *thread);

/* Sampling has ended, or does not concern this process: the kernel blocks what the thread has blocked. */
void tpc_cpu_settle_mask(struct tpc_thread *thread);

/*
 * The kernel blocks the signal in the calling thread if the program has it blocked. True: the kernel did not before, and
 * tpc_cpu_bequeathed() undoes it.
 */
bool tpc_cpu_bequeath(void);
void tpc_cpu_bequeathed(void);

/* What tpc_cpu_bequeath_all() changed. */
struct tpc_bequest {
	uint32_t ignored; /* the signal's number; 0: it was not */
	bool blocked;
};

/*
 * Before exec and posix_spawn: the kernel blocks and ignores the signal as the program does. After posix_spawn, or an exec
 * that failed, tpc_cpu_take_back() undoes it. While the signal is ignored the process is not sampled.
 */
void tpc_cpu_bequeath_all(struct tpc_bequest *bequest);
void tpc_cpu_take_back(const struct tpc_bequest *bequest);

/*
 * Before system(), which returns when the shell has ended. The kernel does not ignore the signal if there are other threads: they
 * would not be sampled for all that time. So in a program with threads the shell finds it not ignored.
 */
void tpc_cpu_bequeath_and_wait(struct tpc_bequest *bequest);

/* In a forked child: threads of its parent that start programs are not its own. */
void tpc_cpu_bequeath_forget(void);

#endif
