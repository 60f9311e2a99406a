/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_PROCESS_THREAD_END_H
#define TPROF_PROCESS_THREAD_END_H

/*
 * From now on, ops that a thread leaves by pthread_exit or cancellation end with it, as unwound: no later call would
 * notice that their frames are gone. Once, at start.
 */
void tpc_ops_watch_ends(void);

/* Watches the calling thread, which is busy. */
struct tpc_thread;
void tpc_ops_watch_end(struct tpc_thread *thread);

#endif
