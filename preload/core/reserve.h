/* SPDX-License-Identifier: Apache-2.0 */
/* Reserves disk space for a part of the trace, and maps it. Each function takes a descriptor of the trace. */
#ifndef TPROF_CORE_RESERVE_H
#define TPROF_CORE_RESERVE_H

#include "core/base.h"

/*
 * Allocates disk blocks for [offset, offset + length): a store into a hole would be a SIGBUS in the user's program if
 * the disk is full. Checks RLIMIT_FSIZE first, because exceeding it would be a SIGXFSZ. Returns 0 or a negative errno.
 */
int tpc_reserve_space(int fd, uint64_t offset, uint64_t length);

/*
 * Allocates the pages of at most 16 chunks that will be filled, all at once. A page that is allocated by the first
 * store to it costs a fault, a look-up of its block, and the conversion of that block to a written one. One large write
 * allocates large pages where the file system has them, and the remaining faults find their pages. On ext4 a chunk
 * takes half to a third of the time. If the write fails, the stores allocate the pages.
 */
void tpc_reserve_fill(int fd, uint64_t offset, uint64_t length);

/*
 * Allocates space behind the end of the file, which does not grow. False: there is none, or the file may not become as large. True
 * also where that is not known.
 */
bool tpc_reserve_ahead(int fd, uint64_t offset, uint64_t length);

/* Returns the blocks of an unused part to the disk; it then reads as zeros. */
void tpc_reserve_return(int fd, uint64_t offset, uint64_t length);

/* NULL: *error says why, a negative errno. */
void *tpc_reserve_map(int fd, uint64_t offset, uint64_t length, int *error);

#endif
