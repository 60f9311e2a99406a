/* SPDX-License-Identifier: Apache-2.0 */
#include "core/space.h"

#include "core/state.h"
#include "core/sys.h"

void *tp_space_take(size_t bytes)
{
	void *space = tp_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (tp_sys_failed(space)) {
		tp_lost(TPROF_LOST_NO_MEMORY, 1);
		return NULL;
	}
	tp_add(&tp_header->collector_bytes, bytes);
	return space;
}

void tp_space_retire(void *space, size_t bytes, size_t keep)
{
	uintptr_t first = tp_round_up((uintptr_t)space + keep, TP_PAGE);

	tp_sys_madvise((void *)first, (uintptr_t)space + bytes - first, MADV_DONTNEED);
	__atomic_fetch_sub(&tp_header->collector_bytes, bytes, __ATOMIC_RELAXED);
}

void tp_space_give_back(void *space, size_t bytes)
{
	tp_sys_munmap(space, bytes);
}
