/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_PROCESS_THREAD_END_H
#define TPROF_PROCESS_THREAD_END_H

/*
 * From here on, ops that a thread leaves by pthread_exit, or because it is cancelled, end with it, unwound: no later call
 * would find their frames gone. Once, at start.
 */
void tpc_ops_watch_ends(void);

/* The calling thread is watched. It is busy. */
struct tpc_thread;
void tpc_ops_watch_end(struct tpc_thread *thread);

#endif
