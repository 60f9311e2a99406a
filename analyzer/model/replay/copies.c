/* SPDX-License-Identifier: Apache-2.0 */
#include "model/replay/copies.h"

#include "base/memory.h"

/* While one region of the child is looked at. */
struct looking {
	const struct tpa_replay *child, *parent;
	const struct tpa_region *region;
	struct tpa_copies *copies;
	size_t ancestor;
	uint64_t low, high, own; /* a mapping of the parent's in the region, and what the child mapped there itself */
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

static void take_own(void *context, uint64_t start, uint64_t end, uint32_t site)
{
	struct looking *looking = context;
	uint64_t low = start > looking->low ? start : looking->low, high = end < looking->high ? end : looking->high;

	(void)site;
	looking->own += high > low ? high - low : 0;
}

static void take_mapping(void *context, uint64_t start, uint64_t end, uint32_t site)
{
	struct looking *looking = context;
	const struct tpa_region *region = looking->region;
	const struct tpa_map_state *map = &looking->parent->maps.sites[site];
	uint64_t space;

	looking->low = start > region->low ? start : region->low;
	looking->high = end < region->high ? end : region->high;
	looking->own = 0;
	if (map->file || looking->high <= looking->low)
		return;
	tpa_maps_each_in(&looking->child->maps, looking->low, looking->high, take_own, looking);
	space = looking->high - looking->low;
	space = space > looking->own ? space - looking->own : 0;
	add(looking->copies, looking->ancestor, map->node,
	    (uint64_t)((unsigned __int128)private_of(region) * space / (region->high - region->low)));
}

void tpa_copies_clear(struct tpa_copies *copies)
{
	copies->count = 0;
}

void tpa_copies_find(const struct tpa_replay *child, const struct tpa_replay *parent, size_t ancestor,
		     struct tpa_copies *copies)
{
	const struct tpa_makeup_state *state = &child->memory.makeup;
	struct looking looking = { .child = child, .parent = parent, .copies = copies, .ancestor = ancestor };

	for (size_t i = 0; i < state->plain; i++) {
		looking.region = &state->list[i].is;
		if (looking.region->kind == TPROF_REGION_ANONYMOUS && private_of(looking.region) &&
		    looking.region->high > looking.region->low)
			tpa_maps_each_in(&parent->maps, looking.region->low, looking.region->high, take_mapping,
					 &looking);
	}
}
