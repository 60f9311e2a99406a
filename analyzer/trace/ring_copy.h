/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TPROF_TRACE_RING_COPY_H
#define TPROF_TRACE_RING_COPY_H

/*
 * A copy of a ring that is being written, in memory: the checkpoint and, of each thread, all events since, up to about now. Returns
 * its descriptor, which the caller closes; -1: no memory, or it can't be read. Blocks the ring's folder meanwhile.
 */
int tpa_ring_copy(int fd);

#endif
