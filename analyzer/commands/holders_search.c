/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/holders_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "commands/root_names.h"
#include "model/holders/paths.h"
#include "symbols/demangle.h"

struct searching {
	struct tpa_holders_memory memory;
	struct tpa_root_names names;
	struct tpa_holders_graph graph;
};

static void read_memory(void *context, uint64_t address, void *to, size_t size)
{
	tpa_holders_copy(&((struct searching *)context)->memory, address, to, size);
}

static void name_root(void *context, uint64_t address, struct tpa_holders_root *root)
{
	tpa_root_name(&((struct searching *)context)->names, address, root);
}

/* A type's name as the ABI mangles it, readable. */
static void demangle(struct tpa_holders_type *type)
{
	char *linkage = tpa_format("_ZTS%s", type->name), *readable = tpa_demangle(linkage);
	static const char before[] = "typeinfo name for ";

	if (readable && strncmp(readable, before, sizeof(before) - 1) == 0)
		snprintf(type->name, sizeof(type->name), "%s", readable + sizeof(before) - 1);
	free(readable);
	free(linkage);
}

static void describe(void *context, uint32_t vertex, struct tpa_holders_type *type)
{
	struct searching *searching = context;
	const struct tpa_holders_block *block = tpa_holders_block_of(&searching->graph, vertex);

	tpa_holders_type(&searching->memory, NULL, block->address, block->size, block->inner, type);
	if (type->kind == TPROF_HOLDER_CXX)
		demangle(type);
}

static void name_edge(void *context, uint32_t parent, uint32_t vertex, uint64_t via, char *name, size_t size)
{
	(void)context;
	(void)parent;
	(void)vertex;
	(void)via;
	(void)size;
	name[0] = 0;
}

static struct tpa_holders_block *list_blocks(const struct tpa_reach_held *held)
{
	struct tpa_holders_block *blocks = tpa_zalloc(held->count + 1, sizeof(*blocks));

	for (size_t i = 0; i < held->count; i++)
		blocks[i] = (struct tpa_holders_block){ held->blocks[i].address, held->blocks[i].size,
							held->blocks[i].node, held->blocks[i].op, false };
	return blocks;
}

static struct tpa_holders_range *list_ranges(const struct tpa_roots *roots)
{
	struct tpa_holders_range *ranges = tpa_zalloc(roots->all.range_count + 1, sizeof(*ranges));

	for (size_t i = 0; i < roots->all.range_count; i++)
		ranges[i] = (struct tpa_holders_range){ roots->ranges[i].low, roots->ranges[i].high,
							roots->ranges[i].exact_only };
	return ranges;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void tpa_holders_search(const struct tpa_trace *trace, struct tpa_frozen *frozen, const struct tpa_reach_held *held,
			const struct tpa_roots *roots, uint64_t ticks, struct tpa_holders_result *result)
{
	struct searching *searching = tpa_zalloc(1, sizeof(*searching));
	struct tpa_holders_block *blocks = list_blocks(held);
	struct tpa_holders_range *ranges = list_ranges(roots);
	const struct tpa_holders_labels labels = { describe, name_edge, searching };
	struct tpa_holders_input input = { .ranges = ranges,
					   .range_count = roots->all.range_count,
					   .words = roots->words,
					   .word_count = roots->all.word_count,
					   .read = read_memory,
					   .name = name_root,
					   .context = searching };
	struct tpa_dominators dominators;
	uint64_t begin = now_ns();
	struct rusage usage;

	tpa_holders_memory_init(&searching->memory, frozen);
	tpa_root_names_init(&searching->names, trace, &searching->memory, roots->sp);
	tpa_holders_graph_build(&searching->graph, blocks, held->count, &input);
	tpa_dominators_find(&dominators, &searching->graph);
	tpa_holders_paths(&searching->graph, &dominators, &labels, ticks, result);
	result->search.ns = now_ns() - begin;
	result->search.memory = getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss << 10 : 0;
	tpa_dominators_free(&dominators);
	tpa_holders_graph_free(&searching->graph);
	tpa_root_names_free(&searching->names);
	tpa_holders_memory_free(&searching->memory);
	free(searching);
	free(blocks);
	free(ranges);
}
