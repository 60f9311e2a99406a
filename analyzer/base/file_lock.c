/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct flock range_of(short type, off_t offset, off_t length)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = length };
}

bool tpa_file_lock(int fd, short type, off_t offset, off_t length)
{
	struct flock range = range_of(type, offset, length);

	return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool tpa_file_lock_if_any(int fd, short type, off_t offset, off_t length)
{
	return tpa_file_lock(fd, type, offset, length) || (errno != EAGAIN && errno != EACCES);
}

bool tpa_file_is_locked(int fd, off_t offset, off_t length)
{
	struct flock range = range_of(F_WRLCK, offset, length);

	return fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}
