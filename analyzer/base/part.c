/* SPDX-License-Identifier: Apache-2.0 */
#include "base/part.h"

#include <sys/stat.h>

#include "base/read_at.h"

struct tpa_part tpa_part_whole(int fd)
{
	struct stat status;

	return (struct tpa_part){ .fd = fd, .bytes = fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0 };
}

size_t tpa_part_read(const struct tpa_part *part, void *buffer, size_t size, uint64_t offset)
{
	if (offset >= part->bytes)
		return 0;
	if (size > part->bytes - offset)
		size = (size_t)(part->bytes - offset);
	return tpa_read_at(part->fd, buffer, size, part->begin + offset);
}
