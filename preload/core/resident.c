/* SPDX-License-Identifier: Apache-2.0 */
#include "core/resident.h"

#include "core/budget.h"
#include "core/clock.h"
#include "core/space.h"
#include "core/state.h"
#include "core/rss_cache.h"
#include "core/sys.h"
#include "core/thread.h"

#define SHARE 400			/* at most 1/SHARE of the time */
#define LEAST_NS 5000000		/* between two counts */
#define AT_ONCE (UINT64_C(256) << 20)	/* bytes for one call of mincore() */
#define TOO_MUCH (UINT64_C(4096) << 20) /* bytes of mappings: counting more would stop the thread for long */
#define THREADS_MAX 256			/* whose stacks are counted */
#define STACK_PIECE (UINT64_C(8) << 20) /* bytes of a stack for one call: usually all of it */
#define BUSY UINT64_MAX

/* ---- the program's mappings ---- */

#define RANGES 1024

/* A range in one word, so that it changes as a whole: first page in 36 bits, number of pages in 28; 0: none. */
static tpc_shared_u64 ranges[RANGES];
static tpc_shared_size ranges_used; /* all later ones are unused: most programs use a few, and each call looks at all */

static uint64_t pack(uint64_t page, uint64_t pages)
{
	return page << 28 | pages;
}

static uint64_t first_page(uint64_t range)
{
	return range >> 28;
}

static uint64_t end_page(uint64_t range)
{
	return (range >> 28) + (range & ((UINT64_C(1) << 28) - 1));
}

/* To be called before a range is added, so that the thread that removes it finds it. */
static void use(size_t index)
{
	size_t used = tpc_load(&ranges_used);

	while (used <= index && !tpc_swap_if(&ranges_used, used, index + 1))
		used = tpc_load(&ranges_used);
}

static void put(size_t spare, uint64_t range)
{
	for (; spare < RANGES; spare++) {
		use(spare);
		if (tpc_swap_if(&ranges[spare], UINT64_C(0), range))
			return;
	}
}

static void add(uint64_t page, uint64_t end)
{
	size_t used = tpc_load(&ranges_used), spare = used;

	if (page >= end || (end - page) >> 28)
		return;
	for (size_t i = 0; i < used; i++) {
		uint64_t range = tpc_load(&ranges[i]);

		if (range && end_page(range) == page && !((end - first_page(range)) >> 28) &&
		    tpc_swap_if(&ranges[i], range, pack(first_page(range), end - first_page(range))))
			return;
		if (!range && spare == used)
			spare = i;
	}
	put(spare, pack(page, end - page));
}

static tpc_shared_u64 changes;

uint64_t tpc_resident_changes(void)
{
	return tpc_load(&changes);
}

void tpc_resident_map(uintptr_t low, uintptr_t high)
{
	tpc_resident_unmap(low, high);
	add(low / TPC_PAGE, tpc_round_up(high, TPC_PAGE) / TPC_PAGE);
}

bool tpc_resident_unmap(uintptr_t low, uintptr_t high)
{
	uint64_t page = low / TPC_PAGE, end = tpc_round_up(high, TPC_PAGE) / TPC_PAGE;
	bool known = false;

	tpc_add(&changes, 1);
	for (size_t i = 0; i < tpc_load(&ranges_used); i++) {
		uint64_t range = tpc_load(&ranges[i]), first = first_page(range), last = end_page(range);

		if (!range || first >= end || last <= page)
			continue;
		known = true;
		if (!tpc_swap_if(&ranges[i], range, first < page ? pack(first, page - first) : UINT64_C(0))) {
			i--; /* another thread changed it: again */
			continue;
		}
		add(end, last);
	}
	return known;
}

/* ---- counting ---- */

static unsigned char pages_in[AT_ONCE / TPC_PAGE];

static uint64_t sum(size_t pages)
{
	uint64_t count = 0;

	for (size_t i = 0; i < pages; i++)
		count += pages_in[i] & 1;
	return count;
}

/* Counts the resident pages of a range. If part of it is not mapped, asks about its halves. */
static uint64_t count_pages(uintptr_t low, uintptr_t high)
{
	size_t pages = (high - low) / TPC_PAGE;

	if (low >= high)
		return 0;
	if (tpc_syscall(SYS_mincore, low, high - low, pages_in, 0) == 0)
		return sum(pages);
	if (pages < 16)
		return 0;
	return count_pages(low, low + pages / 2 * TPC_PAGE) + count_pages(low + pages / 2 * TPC_PAGE, high);
}

static uint64_t count_bytes(uintptr_t low, uintptr_t high)
{
	uint64_t count = 0;

	low = low & ~(uintptr_t)(TPC_PAGE - 1);
	for (; low < high; low += AT_ONCE)
		count += count_pages(low, high - low < AT_ONCE ? high : low + AT_ONCE);
	return count * TPC_PAGE;
}

/* A stack ends where nothing is mapped: the range of the first thread's reaches down to its limit. */
static uint64_t count_down(uintptr_t low, uintptr_t high)
{
	uint64_t bytes = 0;

	for (uintptr_t piece = high - low < STACK_PIECE ? high - low : STACK_PIECE; piece >= TPC_PAGE && high > low;) {
		uintptr_t from = high - low < piece ? low : high - piece;

		if (tpc_syscall(SYS_mincore, from, high - from, pages_in, 0) != 0) {
			piece = piece / TPC_PAGE / 2 * TPC_PAGE;
			continue;
		}
		bytes += sum((high - from) / TPC_PAGE) * TPC_PAGE;
		high = from;
	}
	return bytes;
}

/* Receives the resident bytes of a range; only while BUSY. */
typedef void tpc_put_range(bool stack, uintptr_t low, uintptr_t high, uint64_t bytes);
static tpc_put_range *put_range;
static unsigned int threads_seen;

static void count_stack(struct tpc_thread *thread)
{
	uintptr_t low = tpc_round_up(thread->own.low, TPC_PAGE), high = thread->own.high & ~(uintptr_t)(TPC_PAGE - 1);
	uint32_t tid = tpc_load(&thread->tid);

	if (!tid || low >= high || threads_seen == THREADS_MAX || !tpc_sys_thread_lives(tpc_state.pid, tid))
		return;
	threads_seen++;
	put_range(true, low, high, count_down(low, high));
}

static void count_ranges(tpc_put_range *put_one)
{
	static struct tprof_range own[TPROF_SNAPSHOT_RANGES];
	size_t count = tpc_space_list(own, TPC_LENGTH(own));

	for (size_t i = 0; i < count; i++)
		put_one(false, own[i].low, own[i].high, count_bytes(own[i].low, own[i].high));
	put_range = put_one;
	threads_seen = 0;
	tpc_threads_each(count_stack);
}

static bool count_mapped(uint64_t *bytes)
{
	size_t used = tpc_load(&ranges_used);
	uint64_t all = 0;

	for (size_t i = 0; i < used; i++) {
		uint64_t range = tpc_load(&ranges[i]);

		all += (end_page(range) - first_page(range)) * TPC_PAGE;
	}
	*bytes = 0;
	for (size_t i = 0; all <= TOO_MUCH && i < used; i++) {
		uint64_t range = tpc_load(&ranges[i]);

		*bytes += range ? count_bytes(first_page(range) * TPC_PAGE, end_page(range) * TPC_PAGE) : 0;
	}
	return all <= TOO_MUCH;
}

/* The last count, whether or not it was usable, and its time; only while BUSY. */
static struct {
	struct tpc_resident resident;
	uint64_t ticks, faults, changes;
	bool good;
} last;

/* The faults of a forked child begin at 0, so that it does not use its parent's count. */
static bool holds(uint64_t ticks, uint64_t faults)
{
	return last.good && tpc_load(&tpc_state.still.alike) && last.changes == tpc_load(&changes) &&
	       faults - last.faults <= tpc_rss_cache_unseen(tpc_load(&tpc_state.still.pages)) &&
	       ticks - last.ticks < tpc_clock_ticks(TPC_RESIDENT_AGAIN_NS);
}

static void sum_range(bool stack, uintptr_t low, uintptr_t high, uint64_t bytes)
{
	(void)low;
	(void)high;
	*(stack ? &last.resident.stacks : &last.resident.own) += bytes;
}

static uint64_t count_all(uint64_t ticks, uint64_t faults)
{
	uint64_t began = tpc_clock_thread_ns(), pause;

	last.resident = (struct tpc_resident){ 0 };
	last.ticks = ticks;
	last.faults = faults;
	last.changes = tpc_load(&changes);
	count_ranges(sum_range);
	last.good = count_mapped(&last.resident.mapped);
	pause = (tpc_clock_thread_ns() - began) * tpc_budget_part(SHARE);
	return ticks + tpc_clock_ticks(pause > LEAST_NS ? pause : LEAST_NS);
}

bool tpc_resident_count(uint64_t ticks, uint64_t faults, struct tpc_resident *resident)
{
	uint64_t due = tpc_load(&tpc_state.next_resident);
	bool good;

	if (due == BUSY || !tpc_swap_if(&tpc_state.next_resident, due, BUSY))
		return false;
	last.resident.again = holds(ticks, faults);
	good = last.resident.again;
	if (!good && ticks >= due) {
		due = count_all(ticks, faults);
		good = last.good;
	}
	*resident = last.resident;
	/* Release: pairs with the swap of the next thread, which owns these variables then. */
	tpc_store_release(&tpc_state.next_resident, due);
	return good;
}

bool tpc_resident_ranges(tpc_put_range *put_one)
{
	uint64_t due = tpc_load(&tpc_state.next_resident);

	if (due == BUSY || !tpc_swap_if(&tpc_state.next_resident, due, BUSY))
		return false;
	count_ranges(put_one);
	tpc_store_release(&tpc_state.next_resident, due); /* as in tpc_resident_count() */
	return true;
}
