/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reserve.h"

#include <tprof/format.h>

#include "core/sys.h"

static char zeros[TPROF_CHUNK_SIZE]; /* never written to: all of it is the kernel's page of zeros */

int tpc_reserve_space(int fd, uint64_t offset, uint64_t length)
{
	int result;

	if (offset + length > tpc_sys_limit(RLIMIT_FSIZE))
		return -EFBIG;
	do {
		result = tpc_sys_fallocate(fd, offset, length);
	} while (result == -EINTR);
	if (result == 0 || result == -ENOSPC || result == -EDQUOT)
		return result;
	/* The file system or a sandbox lacks that call. */
	for (uint64_t at = offset; at < offset + length; at += TPC_PAGE) {
		long wrote = tpc_sys_pwrite(fd, zeros, TPC_PAGE, at);

		if (wrote != TPC_PAGE)
			return wrote < 0 ? (int)wrote : -ENOSPC;
	}
	return 0;
}

void tpc_reserve_fill(int fd, uint64_t offset, uint64_t length)
{
	struct iovec parts[16];
	size_t count = 0;

	for (; count < TPC_LENGTH(parts) && length > 0; count++) {
		parts[count] =
			(struct iovec){ (void *)(uintptr_t)zeros, length < sizeof(zeros) ? length : sizeof(zeros) };
		length -= parts[count].iov_len;
	}
	tpc_sys_pwritev(fd, parts, count, offset);
}

bool tpc_reserve_ahead(int fd, uint64_t offset, uint64_t length)
{
	long result;

	if (offset + length > tpc_sys_limit(RLIMIT_FSIZE))
		return false;
	do {
		result = tpc_syscall(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, offset, length);
	} while (result == -EINTR);
	return result != -ENOSPC && result != -EDQUOT;
}

void tpc_reserve_return(int fd, uint64_t offset, uint64_t length)
{
	tpc_syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length);
}

void *tpc_reserve_map(int fd, uint64_t offset, uint64_t length, int *error)
{
	void *p = tpc_sys_mmap(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (!tpc_sys_failed(p))
		return p;
	*error = (int)(intptr_t)p;
	return NULL;
}
