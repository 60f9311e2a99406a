/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/holders_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/now.h"
#include "commands/search/root_names.h"
#include "model/holders/paths.h"
#include "model/holders/python.h"
#include "symbols/demangle.h"

struct searching {
	struct tpa_holders_memory memory;
	struct tpa_root_names names;
	struct tpa_holders_graph graph;
	struct tpa_holders_python python;
	bool has_python;
};

static void read_memory(void *context, uint64_t address, void *to, size_t size)
{
	tpa_holders_copy(&((struct searching *)context)->memory, address, to, size);
}

static void name_root(void *context, uint64_t address, struct tpa_holders_root *root)
{
	struct searching *searching = context;
	const struct tprof_python *python = &searching->memory.frozen->note->python;

	if (searching->has_python && tpa_python_name_root(&searching->python, address, root))
		return;
	tpa_root_name(&searching->names, address, root);
	if (searching->has_python)
		tpa_python_clip_root(&searching->python, address, root);
	/* The interpreter caches its last lookups: these references keep nothing alive */
	if (searching->has_python && tpa_root_same_module(&searching->names, address, python->runtime))
		root->round = TPA_ROUND_REST;
}

static bool skip(void *context, uint32_t vertex, uint64_t at, size_t target, uint64_t value)
{
	struct searching *searching = context;

	return tpa_python_skips(&searching->python, &searching->graph, vertex, at, target, value);
}

/* Classes of autograd's nodes are recognized by their unqualified names. */
static const char *own_name(const char *name)
{
	static const char autograd[] = "torch::autograd::", generated[] = "generated::";

	if (strncmp(name, autograd, sizeof(autograd) - 1) != 0 || strchr(name, '<'))
		return name;
	name += sizeof(autograd) - 1;
	return strncmp(name, generated, sizeof(generated) - 1) == 0 ? name + sizeof(generated) - 1 : name;
}

/* Is it a part of a torch tensor? */
static bool is_of_tensor(const struct tpa_holders_graph *graph, uint32_t vertex, const char *name)
{
	uint32_t parent = graph->parent[vertex];

	if (strcmp(name, "c10::TensorImpl") == 0)
		return tpa_holders_is_block(graph, parent) && tpa_holders_block_of(graph, parent)->type;
	return strcmp(name, "AutogradMeta") == 0 || strcmp(name, "c10::StorageImpl") == 0;
}

/* Demangles a type's name from the C++ ABI's form. */
static void demangle(struct tpa_holders_type *type)
{
	char *linkage = tpa_format("_ZTS%s", type->name), *readable = tpa_demangle(linkage);
	static const char before[] = "typeinfo name for ";

	if (readable && strncmp(readable, before, sizeof(before) - 1) == 0)
		snprintf(type->name, sizeof(type->name), "%s", own_name(readable + sizeof(before) - 1));
	free(readable);
	free(linkage);
}

static void describe(void *context, uint32_t vertex, struct tpa_holders_type *type)
{
	struct searching *searching = context;
	const struct tpa_holders_block *block = tpa_holders_block_of(&searching->graph, vertex);

	if (searching->has_python && tpa_python_describe(&searching->python, &searching->graph, vertex, type))
		return;
	tpa_holders_type(&searching->memory, block->address, block->size, type);
	if (type->kind == TPROF_HOLDER_CXX) {
		demangle(type);
		type->part = is_of_tensor(&searching->graph, vertex, type->name);
	}
}

static void name_edge(void *context, uint32_t vertex, char *name, size_t size)
{
	struct searching *searching = context;

	name[0] = 0;
	if (searching->has_python)
		tpa_python_edge(&searching->python, &searching->graph, vertex, name, size);
}

static struct tpa_holders_block *list_blocks(const struct tpa_reach_held *held)
{
	struct tpa_holders_block *blocks = tpa_zalloc(held->count + 1, sizeof(*blocks));

	for (size_t i = 0; i < held->count; i++)
		blocks[i] = (struct tpa_holders_block){ .address = held->blocks[i].address,
							.size = held->blocks[i].size,
							.node = held->blocks[i].node,
							.op = held->blocks[i].op };
	return blocks;
}

struct ranges {
	struct tpa_holders_range *list;
	size_t count, room;
};

static void add_range(struct ranges *ranges, uint64_t low, uint64_t high, bool exact_only)
{
	if (low >= high)
		return;
	*TPA_APPEND(ranges->list, ranges->count, ranges->room) = (struct tpa_holders_range){ low, high, exact_only };
}

/* Adds ranges without the arenas of Python's allocator; their blocks are searched when a pointer leads to them. */
static void add_without_arenas(struct ranges *ranges, const struct tpa_reach_root *root,
			       const struct tpa_holders_python *python)
{
	uint64_t low = root->low;

	for (size_t i = 0; i < python->arena_count; i++) {
		const struct tprof_range *arena = &python->arenas[i];

		if (arena->high <= low || arena->low >= root->high)
			continue;
		add_range(ranges, low, arena->low, root->exact_only);
		low = arena->high;
	}
	add_range(ranges, low, root->high, root->exact_only);
}

static struct ranges list_ranges(const struct tpa_roots *roots, const struct tpa_holders_python *python)
{
	struct ranges ranges = { 0 };

	for (size_t i = 0; i < python->area_count; i++)
		add_range(&ranges, python->areas[i].low, python->areas[i].high, false);
	for (size_t i = 0; i < roots->all.range_count; i++)
		add_without_arenas(&ranges, &roots->ranges[i], python);
	return ranges;
}

static void begin_python(struct searching *searching, const struct tpa_reach_held *held,
			 struct tpa_holders_block **blocks, size_t *count)
{
	struct tpa_holders_python *python = &searching->python;

	searching->has_python = tpa_python_init(python, &searching->memory);
	if (!searching->has_python)
		return;
	*blocks = tpa_python_add_pools(python, held->mapped, held->mapped_count, *blocks, count);
	tpa_python_classify(python, *blocks, *count);
	tpa_python_find_roots(python, *blocks, *count);
}

void tpa_holders_search(const struct tpa_trace *trace, struct tpa_frozen *frozen, struct tpa_reach_held *held,
			bool take, const struct tpa_roots *roots, uint64_t ticks, struct tpa_holders_result *result)
{
	struct searching *searching = tpa_zalloc(1, sizeof(*searching));
	struct tpa_holders_block *blocks = list_blocks(held);
	size_t count = held->count;
	struct ranges ranges;
	const struct tpa_holders_labels labels = { describe, name_edge, searching };
	struct tpa_holders_input input = { .words = roots->words,
					   .word_count = roots->all.word_count,
					   .read = read_memory,
					   .name = name_root,
					   .context = searching };
	struct tpa_dominators dominators;
	uint64_t begin = tpa_now_ns(CLOCK_MONOTONIC);
	struct rusage usage;

	if (take) {
		free(held->blocks);
		held->blocks = NULL;
		held->count = 0;
	}
	tpa_holders_memory_init(&searching->memory, frozen);
	begin_python(searching, held, &blocks, &count);
	ranges = list_ranges(roots, &searching->python);
	input.ranges = ranges.list;
	input.range_count = ranges.count;
	if (searching->has_python) {
		input.skip = skip;
		input.is_orphan = tpa_python_is_collected;
		input.orphans = "no variable: a cycle that gc has not collected";
	}
	tpa_root_names_init(&searching->names, trace, &searching->memory, roots->sp);
	tpa_holders_graph_build(&searching->graph, blocks, count, &input);
	tpa_dominators_find(&dominators, &searching->graph);
	tpa_holders_paths(&searching->graph, &dominators, &labels, ticks, result);
	result->search.ns = tpa_now_ns(CLOCK_MONOTONIC) - begin;
	result->search.memory = getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss << 10 : 0;
	tpa_dominators_free(&dominators);
	tpa_holders_graph_free(&searching->graph);
	tpa_root_names_free(&searching->names);
	tpa_python_free(&searching->python);
	tpa_holders_memory_free(&searching->memory);
	free(searching);
	free(blocks);
	free(ranges.list);
}
