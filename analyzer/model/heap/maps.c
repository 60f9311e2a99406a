/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "trace/number_archive.h"
#include "model/heap/maps.h"
#include "base/memory.h"

struct tpa_map_node {
	struct tpa_range range;
	uint32_t left, right, priority;
};

void tpa_maps_init(struct tpa_maps *maps)
{
	*maps = (struct tpa_maps){ .bits = 6 };
	/* The seed is random, so that no crafted trace can make the treap deep. */
	if (getrandom(&maps->random, sizeof(maps->random), GRND_NONBLOCK) < 0 || !maps->random)
		maps->random = UINT64_C(0x853c49e6748fea9b);
	maps->table = tpa_zalloc((size_t)1 << maps->bits, sizeof(*maps->table));
	tpa_grow(&maps->nodes, &maps->node_room, 1, sizeof(*maps->nodes));
	memset(&maps->nodes[0], 0, sizeof(maps->nodes[0]));
	maps->node_count = 1;
}

void tpa_maps_free(struct tpa_maps *maps)
{
	free(maps->nodes);
	free(maps->sites);
	free(maps->table);
	free(maps->removed.list);
}

/* ---- sites ---- */

static void touch(struct tpa_maps *maps, struct tpa_map_state *site)
{
	if (site->peak_number != maps->peak_number) {
		site->peak_number = maps->peak_number;
		site->peak = site->live;
	}
}

static void take_live(struct tpa_maps *maps, uint32_t site, uint64_t bytes)
{
	touch(maps, &maps->sites[site]);
	maps->sites[site].live += bytes;
	maps->live += bytes;
	if (maps->counting && maps->live > maps->peak) {
		maps->peak = maps->live;
		maps->peak_number++;
	}
}

static void drop_live(struct tpa_maps *maps, uint32_t site, uint64_t bytes)
{
	touch(maps, &maps->sites[site]);
	maps->sites[site].live -= bytes;
	maps->live -= bytes;
}

void tpa_maps_begin(struct tpa_maps *maps)
{
	maps->counting = true;
	maps->peak = maps->live;
	maps->peak_number++;
}

static uint32_t *find_site(const struct tpa_maps *maps, uint32_t node, bool file)
{
	uint64_t hash = ((uint64_t)node << 1 | file) * UINT64_C(0x9e3779b97f4a7c15);
	size_t mask = ((size_t)1 << maps->bits) - 1, i = (size_t)(hash >> (64 - maps->bits));

	while (maps->table[i] &&
	       (maps->sites[maps->table[i] - 1].node != node || maps->sites[maps->table[i] - 1].file != file))
		i = (i + 1) & mask;
	return &maps->table[i];
}

static void grow_table(struct tpa_maps *maps)
{
	while (maps->site_count >= (size_t)1 << (maps->bits - 1))
		maps->bits++;
	free(maps->table);
	maps->table = tpa_zalloc((size_t)1 << maps->bits, sizeof(*maps->table));
	for (size_t i = 0; i < maps->site_count; i++)
		*find_site(maps, maps->sites[i].node, maps->sites[i].file) = (uint32_t)i + 1;
}

/* The site's index. Adds the site if it is new. */
static uint32_t enter_site(struct tpa_maps *maps, uint32_t node, bool file)
{
	uint32_t *slot;

	if (maps->site_count >= (size_t)1 << (maps->bits - 1))
		grow_table(maps);
	slot = find_site(maps, node, file);
	if (!*slot) {
		*TPA_APPEND(maps->sites, maps->site_count, maps->site_room) =
			(struct tpa_map_state){ .node = node, .file = file };
		*slot = (uint32_t)maps->site_count;
	}
	return *slot - 1;
}

/* ---- the treap ---- */

static uint32_t make_node(struct tpa_maps *maps, uint64_t start, uint64_t end, uint32_t site)
{
	uint32_t node = maps->spare;

	if (node) {
		maps->spare = maps->nodes[node].left;
	} else {
		tpa_grow(&maps->nodes, &maps->node_room, maps->node_count + 1, sizeof(*maps->nodes));
		node = (uint32_t)maps->node_count++;
	}
	maps->random ^= maps->random << 13;
	maps->random ^= maps->random >> 7;
	maps->random ^= maps->random << 17;
	maps->nodes[node] = (struct tpa_map_node){ { start, end, site }, 0, 0, (uint32_t)(maps->random >> 32) };
	return node;
}

/* Splits a tree: ranges that begin before `at` go to *left, the others to *right. */
static void split(struct tpa_maps *maps, uint32_t root, uint64_t at, uint32_t *left, uint32_t *right)
{
	struct tpa_map_node *node = &maps->nodes[root];

	if (!root) {
		*left = *right = 0;
	} else if (node->range.start < at) {
		split(maps, node->right, at, &node->right, right);
		*left = root;
	} else {
		split(maps, node->left, at, left, &node->left);
		*right = root;
	}
}

/* Joins two trees. All of `left` must lie before all of `right`. */
static uint32_t merge(struct tpa_maps *maps, uint32_t left, uint32_t right)
{
	struct tpa_map_node *nodes = maps->nodes;

	if (!left || !right)
		return left ? left : right;
	if (nodes[left].priority > nodes[right].priority) {
		nodes[left].right = merge(maps, nodes[left].right, right);
		return left;
	}
	nodes[right].left = merge(maps, left, nodes[right].left);
	return right;
}

static void insert(struct tpa_maps *maps, const struct tpa_range *range)
{
	uint32_t node = make_node(maps, range->start, range->end, range->site), left, right;

	split(maps, maps->root, range->start, &left, &right);
	maps->root = merge(maps, merge(maps, left, node), right);
}

static void note_removed(struct tpa_maps *maps, uint64_t start, uint64_t end, uint32_t site)
{
	struct tpa_ranges *removed = &maps->removed;

	*TPA_APPEND(removed->list, removed->count, removed->room) = (struct tpa_range){ start, end, site };
	drop_live(maps, site, end - start);
}

/* Cuts the last range of the tree `left` at `start` if it reaches beyond. The part behind `end` is stored in *rest. */
static void cut_before(struct tpa_maps *maps, uint32_t left, uint64_t start, uint64_t end, struct tpa_range *rest)
{
	struct tpa_range *last;

	while (left && maps->nodes[left].right)
		left = maps->nodes[left].right;
	last = &maps->nodes[left].range;
	if (!left || last->end <= start)
		return;
	if (last->end > end)
		*rest = (struct tpa_range){ end, last->end, last->site };
	note_removed(maps, start, last->end < end ? last->end : end, last->site);
	last->end = start;
}

/* Removes all ranges of a tree, which begin before `end`. The part behind `end` is stored in *rest. */
static void drop_tree(struct tpa_maps *maps, uint32_t root, uint64_t end, struct tpa_range *rest)
{
	struct tpa_map_node node = maps->nodes[root];

	if (!root)
		return;
	if (node.range.end > end)
		*rest = (struct tpa_range){ end, node.range.end, node.range.site };
	maps->nodes[root].left = maps->spare;
	maps->spare = root;
	note_removed(maps, node.range.start, node.range.end < end ? node.range.end : end, node.range.site);
	drop_tree(maps, node.left, end, rest);
	drop_tree(maps, node.right, end, rest);
}

static void tell(const struct tpa_maps *maps, const struct tpa_range *range, bool removed)
{
	const struct tpa_map_state *site = removed ? NULL : &maps->sites[range->site];

	if (maps->told)
		*TPA_APPEND(maps->told->list, maps->told->count, maps->told->room) =
			(struct tpa_map_change){ range->start, range->end, site ? site->node : TPROF_NODE_NONE,
						 site && site->file, removed };
}

static void take_away(struct tpa_maps *maps, uint64_t start, uint64_t end)
{
	struct tpa_range rest = { 0 };
	uint32_t left, middle, right;

	maps->removed.count = 0;
	if (start >= end)
		return;
	split(maps, maps->root, start, &left, &middle);
	split(maps, middle, end, &middle, &right);
	cut_before(maps, left, start, end, &rest);
	drop_tree(maps, middle, end, &rest);
	maps->root = merge(maps, left, right);
	if (rest.end)
		insert(maps, &rest);
}

void tpa_maps_remove(struct tpa_maps *maps, uint64_t start, uint64_t end)
{
	take_away(maps, start, end);
	if (start < end)
		tell(maps, &(struct tpa_range){ start, end, 0 }, true);
}

void tpa_maps_restore(struct tpa_maps *maps, const struct tpa_range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		take_away(maps, ranges[i].start, ranges[i].end);
		insert(maps, &ranges[i]);
		tell(maps, &ranges[i], false);
		take_live(maps, ranges[i].site, ranges[i].end - ranges[i].start);
	}
}

void tpa_maps_add(struct tpa_maps *maps, uint64_t start, uint64_t end, uint32_t node, bool file)
{
	struct tpa_range range = { start, end, 0 };

	if (start >= end)
		return;
	range.site = enter_site(maps, node, file);
	take_away(maps, start, end);
	insert(maps, &range);
	tell(maps, &range, false);
	if (maps->counting) {
		maps->sites[range.site].calls++;
		maps->sites[range.site].bytes += end - start;
	}
	take_live(maps, range.site, end - start);
}

struct tpa_map_site *tpa_maps_result(struct tpa_maps *maps, size_t *count)
{
	struct tpa_map_site *result = tpa_zalloc(maps->site_count, sizeof(*result));
	size_t i, found = 0;

	for (i = 0; i < maps->site_count; i++) {
		struct tpa_map_state *site = &maps->sites[i];

		touch(maps, site);
		if (site->calls || site->peak || site->live)
			result[found++] = (struct tpa_map_site){ site->node, site->calls, site->bytes,
								 site->live, site->peak,  site->file };
	}
	*count = found;
	return result;
}

static size_t list_ranges(const struct tpa_maps *maps, uint32_t root, struct tpa_range *list, size_t count)
{
	const struct tpa_map_node *node = &maps->nodes[root];

	if (!root)
		return count;
	count = list_ranges(maps, node->left, list, count);
	list[count++] = node->range;
	return list_ranges(maps, node->right, list, count);
}

struct tpa_range *tpa_maps_ranges(const struct tpa_maps *maps, size_t *count)
{
	struct tpa_range *list = tpa_zalloc(maps->node_count, sizeof(*list));

	*count = list_ranges(maps, maps->root, list, 0);
	return list;
}

bool tpa_maps_ranges_valid(const struct tpa_maps *maps, const struct tpa_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->list[i].site >= maps->site_count || ranges->list[i].start >= ranges->list[i].end)
			return false;
	return true;
}

/* Loads ranges, which must be sorted by address and must not overlap. */
static void load_ranges(struct tpa_archive *archive, struct tpa_maps *maps, const struct tpa_ranges *ranges)
{
	uint64_t end = 0;

	tpa_archive_check(archive, tpa_maps_ranges_valid(maps, ranges), "a mapping has no site");
	for (size_t i = 0; !archive->failed && i < ranges->count; i++) {
		if (!tpa_archive_check(archive, ranges->list[i].start >= end, "mappings overlap"))
			return;
		end = ranges->list[i].end;
		insert(maps, &ranges->list[i]);
	}
}

void tpa_maps_archive(struct tpa_archive *archive, struct tpa_maps *maps)
{
	struct tpa_ranges ranges = { 0 };

	TPA_ARCHIVE(archive, maps->live);
	TPA_ARCHIVE(archive, maps->peak);
	TPA_ARCHIVE(archive, maps->peak_number);
	TPA_ARCHIVE(archive, maps->counting);
	tpa_archive_array(archive, &maps->sites, &maps->site_count, &maps->site_room, sizeof(*maps->sites));
	for (size_t i = 0; i < maps->site_count; i++)
		tpa_archive_node(archive, &maps->sites[i].node);
	if (!archive->loading)
		ranges.list = tpa_maps_ranges(maps, &ranges.count);
	tpa_archive_array(archive, &ranges.list, &ranges.count, NULL, sizeof(*ranges.list));
	if (archive->loading) {
		load_ranges(archive, maps, &ranges);
		grow_table(maps);
	}
	free(ranges.list);
}

struct looking {
	const struct tpa_maps *maps;
	uint64_t start, end;
	void (*take)(void *context, uint64_t start, uint64_t end, uint32_t site);
	void *context;
};

static void look_in(const struct looking *looking, uint32_t root)
{
	const struct tpa_map_node *node = &looking->maps->nodes[root];

	if (!root)
		return;
	if (node->range.end > looking->start)
		look_in(looking, node->left);
	if (node->range.end > looking->start && node->range.start < looking->end)
		looking->take(looking->context, node->range.start, node->range.end, node->range.site);
	if (node->range.start < looking->end)
		look_in(looking, node->right);
}

void tpa_maps_each_in(const struct tpa_maps *maps, uint64_t start, uint64_t end,
		      void (*take)(void *context, uint64_t start, uint64_t end, uint32_t site), void *context)
{
	look_in(&(struct looking){ maps, start, end, take, context }, maps->root);
}
