/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/copies.h"

#include "base/memory.h"

/* While one region of the child is looked at. */
struct looking {
	const struct tpa_reading *child;
	const struct tpa_maps *parent;
	const struct tpa_read_region *region;
	struct tpa_copies *copies;
	size_t ancestor;
};

static uint64_t private_of(const struct tpa_region *region)
{
	return region->private < region->written ? region->private : region->written;
}

static void add(struct tpa_copies *copies, size_t ancestor, uint32_t node, uint64_t bytes)
{
	for (size_t i = 0; i < copies->count; i++)
		if (copies->list[i].process == ancestor && copies->list[i].node == node) {
			copies->list[i].bytes += bytes;
			return;
		}
	if (copies->count < TPA_COPIES_MOST)
		*TPA_APPEND(copies->list, copies->count, copies->room) =
			(struct tpa_copied){ .process = ancestor, .node = node, .bytes = bytes };
}

/* Bytes of [low, high) that the child mapped itself. */
static uint64_t own_of(const struct looking *looking, uint64_t low, uint64_t high)
{
	const struct tpa_range *ranges = &looking->child->ranges[looking->region->first];
	uint64_t own = 0;

	for (size_t i = 0; i < looking->region->count; i++) {
		uint64_t start = ranges[i].start > low ? ranges[i].start : low;
		uint64_t end = ranges[i].end < high ? ranges[i].end : high;

		own += end > start ? end - start : 0;
	}
	return own;
}

static void take_mapping(void *context, uint64_t start, uint64_t end, uint32_t site)
{
	struct looking *looking = context;
	const struct tpa_region *region = &looking->region->is;
	const struct tpa_map_state *map = &looking->parent->sites[site];
	uint64_t low = start > region->low ? start : region->low, high = end < region->high ? end : region->high;
	uint64_t size = region->high - region->low, space, own;

	if (map->file || high <= low || !size)
		return;
	own = own_of(looking, low, high);
	space = high - low > own ? high - low - own : 0;
	add(looking->copies, looking->ancestor, map->node,
	    (uint64_t)((unsigned __int128)private_of(region) * space / size));
}

void tpa_copies_clear(struct tpa_copies *copies)
{
	copies->count = 0;
}

void tpa_copies_find(const struct tpa_reading *child, const struct tpa_maps *parent, size_t ancestor,
		     struct tpa_copies *copies)
{
	struct looking looking = { .child = child, .parent = parent, .copies = copies, .ancestor = ancestor };

	for (size_t i = 0; i < child->region_count; i++) {
		const struct tpa_region *is = &child->regions[i].is;

		looking.region = &child->regions[i];
		if (is->kind == TPROF_REGION_ANONYMOUS && private_of(is))
			tpa_maps_each_in(parent, is->low, is->high, take_mapping, &looking);
	}
}
