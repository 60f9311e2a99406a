/* SPDX-License-Identifier: Apache-2.0 */
#include "core/space.h"

#include "core/state.h"
#include "core/sys.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define AT_ONCE                                                                                                        \
	((size_t)1 << 20) /* bytes of a table that has outgrown a smaller one: what it holds lies on all its pages */

static struct tprof_range noted[TPROF_SNAPSHOT_RANGES]; /* low 0: unused; high 0: and not whole yet */

void tp_space_note(const void *space, size_t bytes)
{
	uint64_t low = (uintptr_t)space;

	for (size_t i = 0; i < TP_LENGTH(noted); i++) {
		if (tp_load(&noted[i].low) || !tp_swap_if(&noted[i].low, UINT64_C(0), low))
			continue;
		tp_store_release(&noted[i].high, low + bytes); /* pairs with tp_space_list() */
		return;
	}
}

size_t tp_space_list(struct tprof_range *list, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < TP_LENGTH(noted) && found < room; i++) {
		uint64_t high = tp_load_acquire(&noted[i].high); /* tp_space_note(): its low is there */
		uint64_t low = tp_load_acquire(&noted[i].low);

		if (low && high && tp_load(&noted[i].high) == high) /* not given back just now */
			list[found++] = (struct tprof_range){ low, high };
	}
	return found;
}

/* What is there from now on may be the program's. It may be a piece of what was taken. */
static void forget(uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < TP_LENGTH(noted); i++) {
		struct tprof_range range = { tp_load(&noted[i].low), tp_load(&noted[i].high) };

		if (low < range.low || high > range.high)
			continue;
		if (low > range.low) {
			tp_store(&noted[i].high, low);
			if (high < range.high)
				tp_space_note((const void *)(uintptr_t)high, range.high - high);
		} else if (high < range.high) {
			tp_store(&noted[i].low, high);
		} else {
			tp_store(&noted[i].high, UINT64_C(0));
			tp_store_release(&noted[i].low, UINT64_C(0)); /* pairs with tp_space_note()'s swap */
		}
		return;
	}
}

void *tp_space_take(size_t bytes)
{
	void *space = tp_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (tp_sys_failed(space)) {
		tp_lost(TPROF_LOST_NO_MEMORY, 1);
		return NULL;
	}
	tp_add(&tp_header->collector_bytes, bytes);
	tp_space_note(space, bytes);
	return space;
}

/* Asks for large pages, as many as fit from `low` on. */
static void ask_large(uintptr_t low, uintptr_t end)
{
	uintptr_t first = tp_round_up(low, HUGE_PAGE);

	if (end > first && end - first >= HUGE_PAGE)
		tp_sys_madvise((void *)first, (end - first) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
}

void *tp_space_take_dense(size_t bytes)
{
	void *space = tp_space_take(bytes);

	if (!space)
		return NULL;
	ask_large((uintptr_t)space + TP_PAGE, (uintptr_t)space + bytes);
	if (bytes >= AT_ONCE) /* older kernels say no */
		tp_sys_madvise(space, tp_round_up(bytes, TP_PAGE), MADV_POPULATE_WRITE);
	return space;
}

void *tp_space_at_border(size_t bytes)
{
	size_t length = tp_round_up(bytes, HUGE_PAGE), all = length + HUGE_PAGE - TP_PAGE;
	char *space = tp_sys_mmap(all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *first = (char *)tp_round_up((uintptr_t)space, HUGE_PAGE);

	if (tp_sys_failed(space))
		return NULL;
	if (first > space)
		tp_sys_munmap(space, (size_t)(first - space));
	if (space + all > first + length)
		tp_sys_munmap(first + length, (size_t)(space + all - first) - length);
	return first;
}

void tp_space_gather(void *space)
{
	tp_sys_madvise(space, HUGE_PAGE, MADV_COLLAPSE);
}

void tp_space_retire(void *space, size_t bytes, size_t keep)
{
	uintptr_t first = tp_round_up((uintptr_t)space + keep, TP_PAGE);

	tp_sys_madvise((void *)first, (uintptr_t)space + bytes - first, MADV_DONTNEED);
	__atomic_fetch_sub(&tp_header->collector_bytes, bytes, __ATOMIC_RELAXED);
}

void tp_space_give_back(void *space, size_t bytes)
{
	forget((uintptr_t)space, (uintptr_t)space + bytes);
	tp_sys_munmap(space, bytes);
}
