/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks on a part of a file that belong to the open file, not to the process, which may open and close the file again meanwhile.
 * They end when the file is closed. None of these functions waits.
 */
#ifndef TPROF_BASE_FILE_LOCK_H
#define TPROF_BASE_FILE_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

/* `type`: F_RDLCK, F_WRLCK or F_UNLCK. False: another open file has a lock that excludes this one, or locks don't work here. */
bool tpa_file_lock(int fd, short type, off_t offset, off_t length);

/* False only if another open file has a lock that excludes this one: whether there are locks at all does not matter. */
bool tpa_file_lock_if_any(int fd, short type, off_t offset, off_t length);

/* Whether another open file has a lock on that part. */
bool tpa_file_is_locked(int fd, off_t offset, off_t length);

#endif
