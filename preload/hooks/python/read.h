/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the interpreter's memory. A hook runs within a call that the interpreter made: what the thread's frames point
 * to is consistent, and is read directly (reader NULL, or not careful). The sampler's signal may come between any two
 * instructions, when a frame is half built and a pointer is stale: then the kernel is asked whether an address is
 * readable.
 */
#ifndef TPROF_HOOKS_PYTHON_READ_H
#define TPROF_HOOKS_PYTHON_READ_H

#include "core/sys.h"

#include <errno.h>

#define TPC_INLINE static inline __attribute__((always_inline))

struct tpc_reader {
	bool careful;	 /* ask first */
	bool bad;	 /* something could not be read; all further values are 0 */
	uintptr_t known; /* page that was found readable, + 1; 0: none */
};

/*
 * rt_sigprocmask with an invalid `how` reads the set, changes nothing, and fails with EFAULT or EINVAL: no descriptor,
 * no allocation, and no sandbox forbids it.
 */
static inline bool tpc_readable_page(struct tpc_reader *reader, uintptr_t address)
{
	uintptr_t page = (address & ~(uintptr_t)(TPC_PAGE - 1)) + 1;

	if (page == reader->known)
		return true;
	if (address % 8 || tpc_syscall(SYS_rt_sigprocmask, -1, address, 0, 8) == -EFAULT) {
		reader->bad = true;
		return false;
	}
	reader->known = page;
	return true;
}

TPC_INLINE bool tpc_may_read(struct tpc_reader *reader, uintptr_t address)
{
	return !reader || !reader->careful || (!reader->bad && tpc_readable_page(reader, address));
}

/* Is [address, address + length) readable? */
static inline bool tpc_may_read_all(struct tpc_reader *reader, uintptr_t address, size_t length)
{
	uintptr_t end = address + length;

	if (!reader->careful)
		return true;
	for (uintptr_t at = address & ~(uintptr_t)7; at < end; at = (at & ~(uintptr_t)(TPC_PAGE - 1)) + TPC_PAGE) {
		if (!tpc_may_read(reader, at))
			return false;
	}
	return true;
}

TPC_INLINE uintptr_t tpc_read_word(struct tpc_reader *reader, uintptr_t address)
{
	return tpc_may_read(reader, address) ? *(const uintptr_t *)address : 0;
}

TPC_INLINE int32_t tpc_read_int(struct tpc_reader *reader, uintptr_t address)
{
	return tpc_may_read(reader, address & ~(uintptr_t)7) ? *(const int32_t *)address : 0;
}

TPC_INLINE uint8_t tpc_read_byte(struct tpc_reader *reader, uintptr_t address)
{
	return tpc_may_read(reader, address & ~(uintptr_t)7) ? *(const uint8_t *)address : 0;
}

#endif
