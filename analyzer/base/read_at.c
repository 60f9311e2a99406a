/* SPDX-License-Identifier: Apache-2.0 */
#include "base/read_at.h"

#include <errno.h>
#include <unistd.h>

size_t tpa_read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (got > 0)
			done += (size_t)got;
		else if (got == 0 || errno != EINTR)
			break;
	}
	return done;
}

bool tpa_write_at(int fd, const void *buffer, size_t size, uint64_t offset)
{
	const char *from = buffer;

	for (size_t done = 0; done < size;) {
		ssize_t wrote = pwrite(fd, from + done, size - done, (off_t)(offset + done));

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		done += (size_t)wrote;
	}
	return true;
}
