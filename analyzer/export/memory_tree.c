/* SPDX-License-Identifier: Apache-2.0 */
#include "export/memory_tree.h"

#include <stdlib.h>

#include "base/memory.h"

#define STACKS_MOST 20000u /* beyond that, those with less than a SMALL-th of the whole are merged into their callers */
#define SMALL 100000u

const char *const tpa_memory_names[TPA_MEMORIES] = { [TPA_MEMORY_PEAK] = "memory at the peak",
						     [TPA_MEMORY_ALLOCATED] = "memory allocated",
						     [TPA_MEMORY_UNFREED] = "memory unfreed",
						     [TPA_MEMORY_GROWTH] = "memory that leaks or may leak" };

enum tpa_memory tpa_memory_of(enum tpa_what what)
{
	return what == TPA_WHAT_UNFREED					  ? TPA_MEMORY_UNFREED
	       : what == TPA_WHAT_ALLOCATED || what == TPA_WHAT_TEMPORARY ? TPA_MEMORY_ALLOCATED
									  : TPA_MEMORY_PEAK;
}

struct reading {
	struct tpa_memory_tree *tree;
	struct tpa_frame_table *frames;
};

static bool add_site(void *to, const struct tpa_export_site *site)
{
	const struct reading *reading = to;
	struct tpa_memory_tree *tree = reading->tree;
	uint64_t bytes[TPA_MEMORY_KINDS] = {
		[TPA_MEMORY_PEAK] = site->sums.peak_bytes,
		[TPA_MEMORY_ALLOCATED] = site->sums.bytes,
		[TPA_MEMORY_UNFREED] = site->sums.live_bytes,
		[TPA_MEMORY_GROWTH] = site->growth && site->growth->grown > 0 ? (uint64_t)site->growth->grown : 0,
		[TPA_MEMORY_FREED] =
			site->sums.bytes > site->sums.live_bytes ? site->sums.bytes - site->sums.live_bytes : 0,
	};
	uint32_t node;

	node = tpa_stack_tree_add(&tree->stacks, reading->frames, site->which, site->stack, site->stack->first);
	tpa_extend(&tree->bytes, &tree->count, &tree->room, tree->stacks.count, sizeof(*tree->bytes));
	for (int i = 0; i < TPA_MEMORY_KINDS; i++) {
		tree->bytes[node][i] += bytes[i];
		tree->sums[i] += bytes[i];
	}
	return true;
}

/* Callers have lower numbers, and so get all that they are to get before they are looked at themselves. */
static void merge_small(struct tpa_memory_tree *tree, enum tpa_memory memory)
{
	uint64_t small = tree->sums[memory] / SMALL;
	size_t stacks = 0;

	for (size_t i = 0; i < tree->count; i++)
		stacks += tree->bytes[i][memory] > 0;
	if (stacks <= STACKS_MOST)
		return;
	for (size_t i = tree->count; i-- > 1;)
		if (tree->bytes[i][memory] < small) {
			tree->bytes[tree->stacks.nodes[i].parent][memory] += tree->bytes[i][memory];
			tree->bytes[i][memory] = 0;
		}
	tree->merged[memory] = true;
}

void tpa_memory_tree_read(struct tpa_memory_tree *tree, struct tpa_export *export, const struct tpa_process *process,
			  struct tpa_frame_table *frames)
{
	struct reading reading = { .tree = tree, .frames = frames };

	*tree = (struct tpa_memory_tree){ 0 };
	tpa_export_process_sites(export, process, add_site, &reading);
	for (enum tpa_memory memory = TPA_MEMORY_PEAK; memory < TPA_MEMORY_KINDS; memory++)
		merge_small(tree, memory);
}

void tpa_memory_tree_free(struct tpa_memory_tree *tree)
{
	tpa_stack_tree_free(&tree->stacks);
	free(tree->bytes);
}
