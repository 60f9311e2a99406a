/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads and programs inherit of our signal. The program may have blocked or ignored it, which we only note:
 * before a thread or program starts, the kernel must be told.
 */
#ifndef TPROF_HOOKS_SAMPLING_BEQUEATH_H
#define TPROF_HOOKS_SAMPLING_BEQUEATH_H

#include "core/base.h"

struct tpc_thread;

/*
 * Is the signal blocked in the calling thread, as far as the program knows? A vfork child has its own mask and its
 * parent's memory: what it blocks is noted separately.
 */
bool tpc_cpu_blocked(struct tpc_thread *thread);
void tpc_cpu_note_blocked(struct tpc_thread *thread, bool blocked);

/*
 * Unblocks the signal in the calling thread, which may have inherited it blocked; the program continues to see it as
 * blocked.
 */
void tpc_cpu_unblock(struct tpc_thread *thread);

/* Sampling has ended, or does not concern this process: makes the kernel block what the thread has blocked. */
void tpc_cpu_settle_mask(struct tpc_thread *thread);

/*
 * Makes the kernel block the signal in the calling thread if the program has blocked it. True: the kernel did not
 * before, and tpc_cpu_bequeathed() undoes it.
 */
bool tpc_cpu_bequeath(void);
void tpc_cpu_bequeathed(void);

/* What tpc_cpu_bequeath_all() changed. */
struct tpc_bequest {
	uint32_t ignored; /* number of the signal; 0: not ignored */
	bool blocked;
};

/*
 * Before exec and posix_spawn: makes the kernel block and ignore the signal as the program does. After posix_spawn, or
 * a failed exec, tpc_cpu_take_back() undoes it. While the signal is ignored the process is not sampled.
 */
void tpc_cpu_bequeath_all(struct tpc_bequest *bequest);
void tpc_cpu_take_back(const struct tpc_bequest *bequest);

/*
 * Before system(), which returns when the shell has ended. If there are other threads the kernel does not ignore the
 * signal: they would not be sampled all that time. So in a program with threads the shell does not find it ignored.
 */
void tpc_cpu_bequeath_and_wait(struct tpc_bequest *bequest);

/* In a forked child: threads that start programs are its parent's. */
void tpc_cpu_bequeath_forget(void);

#endif
