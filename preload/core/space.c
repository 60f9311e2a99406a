/* SPDX-License-Identifier: Apache-2.0 */
#include "core/space.h"

#include "core/assert.h"
#include "core/state.h"
#include "core/sys.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define AT_ONCE                                                                                                        \
	((size_t)1 << 20) /* bytes: a table of this size replaces a smaller one, and uses all its pages at once */

static struct {
	tpc_shared_u64 low, high;
} noted[TPROF_SNAPSHOT_RANGES]; /* low 0: unused; high 0: incomplete */

void tpc_space_note(const void *space, size_t bytes)
{
	uint64_t low = (uintptr_t)space;

	for (size_t i = 0; i < TPC_LENGTH(noted); i++) {
		if (tpc_load(&noted[i].low) || !tpc_swap_if(&noted[i].low, UINT64_C(0), low))
			continue;
		tpc_store_release(&noted[i].high, low + bytes); /* pairs with tpc_space_list() */
		return;
	}
}

size_t tpc_space_list(struct tprof_range *list, size_t room)
{
	size_t found = 0;

	for (size_t i = 0; i < TPC_LENGTH(noted) && found < room; i++) {
		uint64_t high = tpc_load_acquire(&noted[i].high); /* pairs with tpc_space_note(): low is set */
		uint64_t low = tpc_load_acquire(&noted[i].low);

		if (low && high && tpc_load(&noted[i].high) == high) /* not just given back */
			list[found++] = (struct tprof_range){ low, high };
	}
	return found;
}

/* Memory at these addresses may be the program's from now on. The range may be part of what was taken. */
static void forget(uint64_t low, uint64_t high)
{
	for (size_t i = 0; i < TPC_LENGTH(noted); i++) {
		struct tprof_range range = { tpc_load(&noted[i].low), tpc_load(&noted[i].high) };

		if (low < range.low || high > range.high)
			continue;
		if (low > range.low) {
			tpc_store(&noted[i].high, low);
			if (high < range.high)
				tpc_space_note((const void *)(uintptr_t)high, range.high - high);
		} else if (high < range.high) {
			tpc_store(&noted[i].low, high);
		} else {
			tpc_store(&noted[i].high, UINT64_C(0));
			tpc_store_release(&noted[i].low, UINT64_C(0)); /* pairs with tpc_space_note()'s swap */
		}
		return;
	}
}

void *tpc_space_take(size_t bytes)
{
	void *space = tpc_sys_mmap(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (tpc_sys_failed(space)) {
		tpc_lost(TPROF_LOST_NO_MEMORY, 1);
		return NULL;
	}
	tpc_add(&tpc_header->collector_bytes, bytes);
	tpc_space_note(space, bytes);
	return space;
}

/* Asks for large pages, as many as fit between `low` and `end`. */
static void ask_large(uintptr_t low, uintptr_t end)
{
	uintptr_t first = tpc_round_up(low, HUGE_PAGE);

	if (end > first && end - first >= HUGE_PAGE)
		tpc_sys_madvise((void *)first, (end - first) & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
}

void *tpc_space_take_dense(size_t bytes)
{
	void *space = tpc_space_take(bytes);

	if (!space)
		return NULL;
	ask_large((uintptr_t)space + TPC_PAGE, (uintptr_t)space + bytes);
	if (bytes >= AT_ONCE) /* older kernels refuse */
		tpc_sys_madvise(space, tpc_round_up(bytes, TPC_PAGE), MADV_POPULATE_WRITE);
	return space;
}

void *tpc_space_at_border(size_t bytes)
{
	size_t length = tpc_round_up(bytes, HUGE_PAGE), all = length + HUGE_PAGE - TPC_PAGE;
	char *space = tpc_sys_mmap(all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *first = (char *)tpc_round_up((uintptr_t)space, HUGE_PAGE);

	if (tpc_sys_failed(space))
		return NULL;
	if (first > space)
		tpc_sys_munmap(space, (size_t)(first - space));
	if (space + all > first + length)
		tpc_sys_munmap(first + length, (size_t)(space + all - first) - length);
	return first;
}

void tpc_space_gather(void *space)
{
	tpc_sys_madvise(space, HUGE_PAGE, MADV_COLLAPSE);
}

void tpc_space_retire(void *space, size_t bytes, size_t keep)
{
	uintptr_t first = tpc_round_up((uintptr_t)space + keep, TPC_PAGE);

	tpc_assert(first <= (uintptr_t)space + bytes);
	tpc_sys_madvise((void *)first, (uintptr_t)space + bytes - first, MADV_DONTNEED);
	tpc_sub(&tpc_header->collector_bytes, bytes);
}

void tpc_space_give_back(void *space, size_t bytes)
{
	tpc_assert((uintptr_t)space % TPC_PAGE == 0);
	forget((uintptr_t)space, (uintptr_t)space + bytes);
	tpc_sys_munmap(space, bytes);
}
