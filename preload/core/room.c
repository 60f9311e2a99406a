/* SPDX-License-Identifier: Apache-2.0 */
#include "core/room.h"

#include <tprof/format.h>

#include "core/sys.h"

static const char zeros[TP_PAGE];

int tp_room_reserve(int fd, uint64_t offset, uint64_t length)
{
	int result;

	if (offset + length > tp_sys_limit(RLIMIT_FSIZE))
		return -EFBIG;
	do {
		result = tp_sys_fallocate(fd, offset, length);
	} while (result == -EINTR);
	if (result == 0 || result == -ENOSPC || result == -EDQUOT)
		return result;
	/* The file system, or a sandbox, has no such call. */
	for (uint64_t at = offset; at < offset + length; at += TP_PAGE) {
		long wrote = tp_sys_pwrite(fd, zeros, TP_PAGE, at);

		if (wrote != TP_PAGE)
			return wrote < 0 ? (int)wrote : -ENOSPC;
	}
	return 0;
}

void tp_room_fill(int fd, uint64_t offset)
{
	struct iovec parts[TPROF_CHUNK_SIZE / TP_PAGE];

	for (size_t i = 0; i < TP_LENGTH(parts); i++)
		parts[i] = (struct iovec){ (void *)(uintptr_t)zeros, TP_PAGE };
	tp_sys_pwritev(fd, parts, TP_LENGTH(parts), offset);
}

void *tp_room_map(int fd, uint64_t offset, uint64_t length, int *error)
{
	void *p = tp_sys_mmap(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (!tp_sys_failed(p))
		return p;
	*error = (int)(intptr_t)p;
	return NULL;
}
