/* SPDX-License-Identifier: Apache-2.0 */
/* Room on the disk for a part of the trace, and memory that is that part. Each takes a descriptor of the trace. */
#ifndef TPROF_CORE_RESERVE_H
#define TPROF_CORE_RESERVE_H

#include "core/base.h"

/*
 * Real blocks on the disk for [offset, offset + length): storing into a hole of a full disk would be a SIGBUS in the
 * user's program. Growing past RLIMIT_FSIZE would be a SIGXFSZ, so the limit is asked first. 0, or a negative errno.
 */
int tpc_reserve_space(int fd, uint64_t offset, uint64_t length);

/*
 * The pages of chunks that will be filled, at most 16 chunks, made all at once: a page made by the store that touches it costs
 * a fault, a look at the disk's blocks and their change to written ones; a write of as many makes large ones where the file
 * system has them, and the faults that are left find them there. Half to a third of the time for a chunk on ext4. If it fails
 * the stores make the pages, as the blocks are there.
 */
void tpc_reserve_fill(int fd, uint64_t offset, uint64_t length);

/* Gives the blocks of a part that nobody has written to back to the disk; what is read there are zeros. */
void tpc_reserve_return(int fd, uint64_t offset, uint64_t length);

/* NULL: *error says why, a negative errno. */
void *tpc_reserve_map(int fd, uint64_t offset, uint64_t length, int *error);

#endif
