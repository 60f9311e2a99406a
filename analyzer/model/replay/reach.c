/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "model/replay/interior.h"
#include "model/replay/replay.h"

#define BUFFER 65536

struct search {
	struct tpa_reach_block *blocks;
	size_t count;
	uint64_t low, high; /* of all blocks */
	const struct tpa_reach_roots *roots;
	tpa_reach_read *read;
	void *context;
	uint32_t *stack; /* blocks whose contents are still to be searched */
	size_t depth;
	uint64_t *buffer;
	size_t leader; /* the first of the lost blocks that are being followed */
};

/* Called for each block that is pointed to. `from`: how the place of the pointer is reached. */
typedef void meet(struct search *search, size_t block, bool exact, uint8_t from);

/* The block that holds the address. SIZE_MAX: none. A block of no bytes has its beginning. */
static size_t find(const struct search *search, uint64_t address)
{
	const struct tpa_reach_block *block;
	size_t low;

	if (address < search->low || address >= search->high)
		return SIZE_MAX;
	low = TPA_UP_TO(search->blocks, search->count, address, address);
	if (!low)
		return SIZE_MAX;
	block = &search->blocks[low - 1];
	return address == block->address || address - block->address < block->size ? low - 1 : SIZE_MAX;
}

/* Whether the pointer leads to the block, and not only into it. It does not matter for a block that is reached already. */
static bool is_whole(const struct search *search, size_t block, uint64_t pointer, uint8_t from)
{
	const struct tpa_reach_block *to = &search->blocks[block];

	return pointer == to->address ||
	       (from == TPROF_REACH_STILL && to->reach != TPROF_REACH_STILL &&
		tpa_interior_is_block(to, pointer, search->roots, search->read, search->context));
}

static void look_at_words(struct search *search, size_t words, bool exact_only, uint8_t from, meet *met)
{
	for (size_t i = 0; i < words; i++) {
		size_t block = find(search, search->buffer[i]);

		if (block != SIZE_MAX && (!exact_only || search->blocks[block].address == search->buffer[i]))
			met(search, block, is_whole(search, block, search->buffer[i], from), from);
	}
}

static void look_at(struct search *search, const struct tpa_reach_root *root, uint8_t from, meet *met)
{
	uint64_t at = (root->low + 7) & ~UINT64_C(7), end = root->high & ~UINT64_C(7);

	while (at < end) {
		size_t want = end - at < BUFFER ? (size_t)(end - at) : BUFFER;
		size_t got = search->read(search->context, at, search->buffer, want);

		look_at_words(search, got / 8, root->exact_only, from, met);
		if (got < want) /* a page that is not there: the next one may be */
			got = (size_t)(((at + got) | 4095) + 1 - at);
		at += got;
	}
}

static void push(struct search *search, size_t block)
{
	search->stack[search->depth++] = (uint32_t)block;
}

static void follow(struct search *search, meet *met)
{
	while (search->depth) {
		const struct tpa_reach_block *block = &search->blocks[search->stack[--search->depth]];
		struct tpa_reach_root content = { block->address, block->address + block->size, false };

		look_at(search, &content, block->reach, met);
	}
}

/* From the roots: a chain counts as its weakest pointer. A block may be met a second time, by a better chain. */
static void meet_reached(struct search *search, size_t block, bool exact, uint8_t from)
{
	uint8_t reach = exact && from == TPROF_REACH_STILL ? TPROF_REACH_STILL : TPROF_REACH_POSSIBLE;
	uint8_t *now = &search->blocks[block].reach;

	if (*now == TPROF_REACH_STILL || *now == reach)
		return;
	*now = reach;
	push(search, block);
}

/* From a lost block: what it leads to is lost indirectly, also a block that was taken for the first of its own group. */
static void meet_lost(struct search *search, size_t block, bool exact, uint8_t from)
{
	uint8_t *now = &search->blocks[block].reach;

	(void)exact;
	(void)from;
	if (*now == 0)
		push(search, block);
	if (*now == 0 || (*now == TPROF_REACH_DEFINITE && block != search->leader))
		*now = TPROF_REACH_INDIRECT;
}

static void search_roots(struct search *search, const struct tpa_reach_roots *roots)
{
	for (size_t i = 0; i < roots->word_count; i++) {
		search->buffer[0] = roots->words[i];
		look_at_words(search, 1, false, TPROF_REACH_STILL, meet_reached);
		follow(search, meet_reached);
	}
	for (size_t i = 0; i < roots->range_count; i++) {
		look_at(search, &roots->ranges[i], TPROF_REACH_STILL, meet_reached);
		follow(search, meet_reached);
	}
}

void tpa_reach_search(struct tpa_reach_block *blocks, size_t count, const struct tpa_reach_roots *roots,
		      tpa_reach_read *read, void *context)
{
	struct search search = { .blocks = blocks, .count = count, .roots = roots, .read = read, .context = context };

	if (!count)
		return;
	TPA_SORT(blocks, count, address);
	search.low = blocks[0].address;
	search.high = blocks[count - 1].address + (blocks[count - 1].size ? blocks[count - 1].size : 1);
	search.stack = tpa_resize(NULL, 2 * count, sizeof(*search.stack)); /* each block at most twice */
	search.buffer = tpa_resize(NULL, BUFFER, 1);
	search_roots(&search, roots);
	for (size_t i = 0; i < count; i++) {
		if (blocks[i].reach)
			continue;
		blocks[i].reach = TPROF_REACH_DEFINITE;
		search.leader = i;
		push(&search, i);
		follow(&search, meet_lost);
	}
	free(search.stack);
	free(search.buffer);
}

void tpa_reach_confirm(struct tpa_reach_block *blocks, size_t count, const struct tpa_reach_block *earlier,
		       size_t earlier_count)
{
	for (size_t i = 0, k = 0; i < count; i++) {
		while (k < earlier_count && earlier[k].address < blocks[i].address)
			k++;
		if (k == earlier_count || earlier[k].address != blocks[i].address ||
		    earlier[k].time != blocks[i].time || earlier[k].reach == TPROF_REACH_STILL)
			blocks[i].reach = TPROF_REACH_STILL;
	}
}

/* ---- the blocks ---- */

static bool is_seamless(const struct tpa_trace *trace, const struct tpa_replay *replay)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i <= TPROF_LOST_EARLY; i++)
		lost += trace->header->lost[i];
	return trace->header->origin != TPROF_ORIGIN_FORK && !(trace->header->flags & TPROF_FLAG_WAITED) &&
	       !replay->pause.count && !replay->pause.on && !tpa_replay_estimated(replay) && !lost;
}

/* Stacks are given by the file's own numbers, because the results are written there and read when the trace has more stacks. */
static struct tpa_reach_block *copy_live(const struct tpa_replay *replay, size_t *count)
{
	const struct tpa_live *live = &replay->heap.live;
	size_t slots = (size_t)1 << (64 - live->shift);
	struct tpa_reach_block *blocks = tpa_zalloc(live->count, sizeof(*blocks));

	*count = 0;
	for (size_t i = 0; i < slots; i++) {
		const struct tpa_block *block = &live->blocks[i];
		const struct tpa_site_state *site = &replay->heap.sites.list[block->site];

		if (block->site < TPA_SITE_FIRST)
			continue;
		blocks[(*count)++] = (struct tpa_reach_block){ .address = block->address,
							       .size = block->size,
							       .time = block->time,
							       .node = tpa_trace_file_node(replay->trace, site->node),
							       .op = site->op };
	}
	TPA_SORT(blocks, *count, address);
	return blocks;
}

static struct tprof_range *copy_mapped(const struct tpa_replay *replay, size_t *count)
{
	struct tpa_range *ranges = tpa_maps_ranges(&replay->maps, count);
	struct tprof_range *mapped = tpa_zalloc(*count, sizeof(*mapped));

	for (size_t i = 0; i < *count; i++)
		mapped[i] = (struct tprof_range){ ranges[i].start, ranges[i].end };
	free(ranges);
	return mapped;
}

void tpa_reach_held(struct tpa_trace *trace, uint64_t ticks, struct tpa_reach_held *held)
{
	uint64_t ns = tpa_trace_ns(trace, ticks);
	const struct tpa_replay_options options = { .to_ns = ns ? ns : 1 };
	struct tpa_replay replay;

	memset(held, 0, sizeof(*held));
	tpa_replay_init(&replay, trace, &options, 0);
	tpa_replay_steps(&replay, SIZE_MAX);
	held->blocks = copy_live(&replay, &held->count);
	held->mapped = copy_mapped(&replay, &held->mapped_count);
	held->seamless = is_seamless(trace, &replay);
	tpa_replay_free(&replay);
}

void tpa_reach_held_free(struct tpa_reach_held *held)
{
	free(held->blocks);
	free(held->mapped);
	memset(held, 0, sizeof(*held));
}
