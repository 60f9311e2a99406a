/* SPDX-License-Identifier: Apache-2.0 */
#include "model/heap/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/memory.h"
#include "base/order.h"

struct tpa_pool {
	uint64_t address, size;
	/*
	 * Index + 1 of the first link in the pool's list of blocks. In an unused pool: index + 1 of the next unused
	 * pool.
	 */
	uint32_t first;
	bool backed; /* by a heap block of `size` bytes */
};

struct tpa_pool_link {
	uint64_t address;
	uint32_t pool;	     /* index + 1; 0: none */
	uint32_t next, prev; /* index + 1 of a link; 0: none */
};

/* ---- which allocations are pools ---- */

/*
 * `live`: the heap's blocks. `time` is the number of a block's allocation event. `site` is 1, and 2 once the block is
 * known to back a pool: the one at the address `pool` is.
 */
static void back(struct tpa_pools *pools, struct tpa_live *live, uint64_t pool)
{
	struct tpa_block *block = tpa_live_find(live, pool);

	if (block->site != 1)
		return;
	block->site = 2;
	*TPA_APPEND(pools->backing, pools->backing_count, pools->backing_room) = block->time;
}

/* A block that is emptied as a pool is one, too: so the hooks tell which blocks a pool takes. */
static void look_at(struct tpa_pools *pools, struct tpa_live *live, const struct tpa_event *event, uint64_t number)
{
	struct tpa_block *block;

	if (event->kind == TPA_EVENT_ALLOC) {
		block = tpa_live_place(live, event->alloc.address);
		live->count += !block->site;
		*block = (struct tpa_block){ .address = event->alloc.address, .time = number, .site = 1 };
	} else if (event->kind == TPA_EVENT_FREE && !event->cancelled) {
		block = tpa_live_find(live, event->free.address);
		if (block->site)
			tpa_live_remove(live, block);
	} else if (event->kind == TPA_EVENT_POOL_ALLOC) {
		back(pools, live, event->pool_alloc.pool);
	} else if (event->kind == TPA_EVENT_POOL_FREE && event->pool_free.whole) {
		back(pools, live, event->pool_free.address);
	}
}

void tpa_pools_find(struct tpa_pools *pools, struct tpa_events *events, uint64_t number)
{
	const struct tpa_event *event;
	struct tpa_live live = { 0 };

	tpa_live_init(&live);
	while ((event = tpa_events_next(events)))
		look_at(pools, &live, event, ++number);
	if (tpa_events_failed(events))
		tpa_no_memory();
	TPA_SORT_NUMBERS(pools->backing, pools->backing_count);
	tpa_live_free(&live);
	tpa_events_close(events);
}

void tpa_pools_init(struct tpa_pools *pools, const struct tpa_trace *trace)
{
	memset(pools, 0, sizeof(*pools));
	if (!(trace->header->flags & TPROF_FLAG_POOLS))
		return;
	pools->any = true;
	tpa_live_init(&pools->places);
	tpa_live_init(&pools->blocks);
}

void tpa_pools_free(struct tpa_pools *pools)
{
	if (!pools->any)
		return;
	free(pools->backing);
	free(pools->list);
	free(pools->links);
	tpa_live_free(&pools->places);
	tpa_live_free(&pools->blocks);
}

/* ---- pools ---- */

/* Index + 1 of the pool at an address. Adds the pool if it is new. */
static uint32_t enter_pool(struct tpa_pools *pools, uint64_t address)
{
	struct tpa_block *place = tpa_live_place(&pools->places, address);
	uint32_t number = pools->list_spare;

	if (place->site)
		return place->site;
	if (number) {
		pools->list_spare = pools->list[number - 1].first;
	} else {
		tpa_grow(&pools->list, &pools->list_room, pools->list_count + 1, sizeof(*pools->list));
		number = (uint32_t)++pools->list_count;
	}
	pools->list[number - 1] = (struct tpa_pool){ .address = address };
	*place = (struct tpa_block){ .address = address, .site = number };
	pools->places.count++;
	return number;
}

void tpa_pools_open(struct tpa_pools *pools, uint64_t address, uint64_t size)
{
	uint32_t number = enter_pool(pools, address);
	struct tpa_pool *pool = &pools->list[number - 1];

	if (pool->backed) { /* its free is not in the trace */
		pools->counts.end_pools--;
		pools->counts.end_bytes -= pool->size;
	}
	pool->backed = true;
	pool->size = size;
	pools->counts.end_pools++;
	pools->counts.end_bytes += size;
	if (pools->counts.end_bytes > pools->counts.peak_bytes)
		pools->counts.peak_bytes = pools->counts.end_bytes;
}

bool tpa_pools_has(const struct tpa_pools *pools, uint64_t address)
{
	uint32_t number = pools->any ? tpa_live_find(&pools->places, address)->site : 0;

	return number && pools->list[number - 1].backed;
}

void tpa_pools_close(struct tpa_pools *pools, uint64_t address)
{
	struct tpa_block *place = tpa_live_find(&pools->places, address);
	struct tpa_pool *pool;

	if (!place->site)
		return;
	pool = &pools->list[place->site - 1];
	if (pool->backed) {
		pools->counts.end_pools--;
		pools->counts.end_bytes -= pool->size;
	}
	pool->first = pools->list_spare;
	pools->list_spare = place->site;
	tpa_live_remove(&pools->places, place);
}

/* ---- blocks ---- */

static uint32_t new_link(struct tpa_pools *pools)
{
	uint32_t number = pools->link_spare;

	if (number) {
		pools->link_spare = pools->links[number - 1].next;
		return number;
	}
	tpa_grow(&pools->links, &pools->link_room, pools->link_count + 1, sizeof(*pools->links));
	return (uint32_t)++pools->link_count;
}

void tpa_pools_add(struct tpa_pools *pools, uint64_t address, const struct tpa_block *block)
{
	uint32_t number = address ? enter_pool(pools, address) : 0, link = new_link(pools);
	struct tpa_block *place = tpa_live_place(&pools->blocks, block->address);

	pools->links[link - 1] = (struct tpa_pool_link){ .address = block->address, .pool = number };
	if (number) {
		struct tpa_pool *pool = &pools->list[number - 1];

		pools->links[link - 1].next = pool->first;
		if (pool->first)
			pools->links[pool->first - 1].prev = link;
		pool->first = link;
	}
	*place = *block;
	place->slack = link - 1;
	pools->blocks.count++;
}

bool tpa_pools_take(struct tpa_pools *pools, uint64_t address, struct tpa_block *block)
{
	struct tpa_block *place;
	struct tpa_pool_link *link;
	uint32_t number;

	if (!pools->any)
		return false;
	place = tpa_live_find(&pools->blocks, address);
	if (!place->site)
		return false;
	*block = *place;
	block->slack = 0;
	number = place->slack + 1;
	link = &pools->links[number - 1];
	if (link->next)
		pools->links[link->next - 1].prev = link->prev;
	if (link->prev)
		pools->links[link->prev - 1].next = link->next;
	else if (link->pool)
		pools->list[link->pool - 1].first = link->next;
	link->next = pools->link_spare;
	pools->link_spare = number;
	tpa_live_remove(&pools->blocks, place);
	return true;
}

bool tpa_pools_take_of(struct tpa_pools *pools, uint64_t address, struct tpa_block *block)
{
	uint32_t number = pools->any ? tpa_live_find(&pools->places, address)->site : 0;
	uint32_t first = number ? pools->list[number - 1].first : 0;

	return first && tpa_pools_take(pools, pools->links[first - 1].address, block);
}

/* ---- saving and loading ---- */

/* Whether all blocks have a link, and all links refer to existing pools and links. */
static bool links_are_valid(const struct tpa_pools *pools)
{
	size_t links = pools->link_count, slots = (size_t)1 << (64 - pools->blocks.shift);

	for (size_t i = 0; i < links; i++) {
		const struct tpa_pool_link *link = &pools->links[i];

		if (link->pool > pools->list_count || link->next > links || link->prev > links)
			return false;
	}
	for (size_t i = 0; i < slots; i++)
		if (pools->blocks.blocks[i].site && pools->blocks.blocks[i].slack >= links)
			return false;
	return pools->link_spare <= links;
}

/*
 * Whether each place refers to a pool, each used pool to a link, and each unused pool to another unused one, without a
 * cycle.
 */
static bool pools_are_valid(const struct tpa_pools *pools)
{
	size_t list = pools->list_count, slots = (size_t)1 << (64 - pools->places.shift);
	size_t most = list > pools->link_count ? list : pools->link_count, unused = 0;

	for (size_t i = 0; i < list; i++)
		if (pools->list[i].first > most)
			return false;
	for (size_t i = 0; i < slots; i++) {
		uint32_t number = pools->places.blocks[i].site;

		if (number > list || (number && pools->list[number - 1].first > pools->link_count))
			return false;
	}
	for (uint32_t i = pools->list_spare; i; i = pools->list[i - 1].first)
		if (i > list || unused++ == list)
			return false;
	return true;
}

void tpa_pools_archive(struct tpa_archive *archive, struct tpa_pools *pools)
{
	TPA_ARCHIVE(archive, pools->counts);
	if (!pools->any)
		return;
	TPA_ARCHIVE(archive, pools->list_spare);
	TPA_ARCHIVE(archive, pools->link_spare);
	TPA_ARCHIVE(archive, pools->ended);
	tpa_archive_array(archive, &pools->list, &pools->list_count, &pools->list_room, sizeof(*pools->list));
	tpa_archive_array(archive, &pools->links, &pools->link_count, &pools->link_room, sizeof(*pools->links));
	tpa_live_archive(archive, &pools->places);
	tpa_live_archive(archive, &pools->blocks);
	tpa_archive_check(archive, links_are_valid(pools) && pools_are_valid(pools), "a pool is out of range");
}
