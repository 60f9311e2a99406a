/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/tree.h"

#include <stdlib.h>
#include <string.h>

#include "report/rows/line_keys.h"
#include "report/rows/suppressions.h"

struct tpa_tree_impl {
	size_t capacity;
	struct tpa_keys keys;
	struct tpa_pairs children; /* (parent, key) to node */
	struct tpa_stack stack;
};

struct tpa_tree *tpa_tree_new(void)
{
	struct tpa_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->impl = calloc(1, sizeof(*tree->impl));
	tree->nodes = calloc(64, sizeof(*tree->nodes));
	if (tree->impl && tree->nodes && tpa_keys_init(&tree->impl->keys)) {
		tree->impl->capacity = 64;
		tree->count = 1;
		tree->nodes[0].function = "all";
		return tree;
	}
	tpa_tree_free(tree);
	return NULL;
}

void tpa_tree_free(struct tpa_tree *tree)
{
	if (!tree)
		return;
	if (tree->impl) {
		tpa_keys_free(&tree->impl->keys);
		tpa_pairs_free(&tree->impl->children);
		tpa_stack_free(&tree->impl->stack);
	}
	free(tree->impl);
	free(tree->nodes);
	free(tree);
}

/* Bytes and calls of a site as `what` asks. Of temporary allocations the bytes are those of all at that site, by share. */
static void weigh(const struct tpa_site *site, enum tpa_what what, uint64_t *bytes, uint64_t *calls)
{
	switch (what) {
	case TPA_WHAT_PEAK:
		*bytes = site->peak_bytes;
		*calls = site->peak_blocks;
		break;
	case TPA_WHAT_UNFREED:
		*bytes = site->live_bytes;
		*calls = site->live_blocks;
		break;
	case TPA_WHAT_TEMPORARY:
		*bytes = site->allocations
				 ? (uint64_t)((double)site->bytes * (double)site->temporary / (double)site->allocations)
				 : 0;
		*calls = site->temporary;
		break;
	default:
		*bytes = site->bytes;
		*calls = site->allocations;
		break;
	}
}

/* The child of `parent` with this key; UINT32_MAX: memory is out. *fresh: it is new, and to be filled in. */
static uint32_t child_of(struct tpa_tree *tree, uint32_t parent, const char *key, bool *fresh)
{
	struct tpa_tree_impl *impl = tree->impl;
	bool found = false;
	uint32_t *at;

	if (!key)
		return UINT32_MAX;
	if (tree->count == impl->capacity) {
		struct tpa_tree_node *nodes = realloc(tree->nodes, 2 * impl->capacity * sizeof(*nodes));

		if (!nodes)
			return UINT32_MAX;
		tree->nodes = nodes;
		impl->capacity *= 2;
	}
	at = tpa_pairs_at(&impl->children, parent, (uintptr_t)key, &found);
	if (!at)
		return UINT32_MAX;
	*fresh = !found;
	if (!found) {
		*at = (uint32_t)tree->count++;
		memset(&tree->nodes[*at], 0, sizeof(*tree->nodes));
		tree->nodes[*at].parent = parent;
	}
	return *at;
}

static uint32_t named_child(struct tpa_tree *tree, uint32_t parent, const char *name)
{
	const char *key = tpa_arena_intern(tree->impl->keys.arena, name);
	bool fresh = false;
	uint32_t child = child_of(tree, parent, key, &fresh);

	if (child != UINT32_MAX && fresh) {
		tree->nodes[child].function = key;
		tree->nodes[child].module = "";
	}
	return child;
}

static uint32_t line_child(struct tpa_tree *tree, uint32_t parent, const struct tpa_line *line,
			   const struct tpa_trace *trace)
{
	const char *key = tpa_keys_get(&tree->impl->keys, line, TPA_KEY_FUNCTION);
	bool fresh = false;
	uint32_t child = child_of(tree, parent, key, &fresh);
	char place[1024];

	if (child != UINT32_MAX && fresh) {
		tree->nodes[child].function = line->location->function;
		tree->nodes[child].module = line->symbol->module;
		if (line->location->file)
			tree->nodes[child].place = tpa_arena_intern(
				tree->impl->keys.arena, tpa_line_place(line, trace->cwd, place, sizeof(place)));
	}
	return child;
}

/* Walks down the tree along the stack just read, in to the line `first`; UINT32_MAX: memory is out. */
static uint32_t leaf_of(struct tpa_tree *tree, uint32_t node, const struct tpa_trace *trace, size_t first)
{
	const struct tpa_stack *stack = &tree->impl->stack;

	if (first == stack->last)
		return named_child(tree, node, "(stack not recorded)");
	if (stack->end == TPROF_NODE_CUT)
		node = named_child(tree, node, "(outer frames cut)");
	for (size_t i = stack->last; node != UINT32_MAX && i-- > first;)
		node = line_child(tree, node, &stack->lines[i], trace);
	return node;
}

static bool add_leaf(struct tpa_tree *tree, uint32_t top, const struct tpa_trace *trace, size_t first, uint64_t bytes,
		     uint64_t calls)
{
	uint32_t leaf = leaf_of(tree, top, trace, first);

	if (leaf == UINT32_MAX)
		return false;
	tree->nodes[leaf].self_bytes += bytes;
	tree->nodes[leaf].self_calls += calls;
	return true;
}

static bool add_site(struct tpa_tree *tree, uint32_t top, const struct tpa_process *process,
		     struct tpa_symbols *symbols, const struct tpa_tree_options *options, const struct tpa_site *site)
{
	struct tpa_stack *stack = &tree->impl->stack;
	uint64_t bytes, calls;

	weigh(site, options->what, &bytes, &calls);
	if (!bytes && !calls)
		return true;
	if (!tpa_stack_read(stack, process->trace, symbols, site->node))
		return false;
	if (options->filter && !tpa_stack_matches(stack, options->filter))
		return true;
	if (options->suppressions &&
	    tpa_suppressions_match(options->suppressions, stack, site->live_blocks, site->live_bytes))
		return true;
	return add_leaf(tree, top, process->trace, stack->first, bytes, calls);
}

/* CPU time is spent in the innermost line, whichever that is: malloc's own time is malloc's. */
static bool add_cpu_site(struct tpa_tree *tree, uint32_t top, const struct tpa_process *process,
			 struct tpa_symbols *symbols, const struct tpa_tree_options *options,
			 const struct tpa_cpu_site *site)
{
	struct tpa_stack *stack = &tree->impl->stack;

	if (!tpa_stack_read(stack, process->trace, symbols, site->node))
		return false;
	if (options->filter && !tpa_stack_matches(stack, options->filter))
		return true;
	return add_leaf(tree, top, process->trace, 0, tpa_cpu_ns(process, &site->cpu), site->cpu.samples);
}

bool tpa_tree_add(struct tpa_tree *tree, const struct tpa_process *process, struct tpa_symbols *symbols,
		  const struct tpa_tree_options *options)
{
	uint32_t top = options->label ? named_child(tree, 0, options->label) : 0;
	bool good = top != UINT32_MAX;

	if (options->what == TPA_WHAT_CPU) {
		for (size_t i = 0; good && i < process->cpu_site_count; i++)
			good = add_cpu_site(tree, top, process, symbols, options, &process->cpu_sites[i]);
		return good;
	}
	for (size_t i = 0; good && i < process->site_count; i++)
		good = add_site(tree, top, process, symbols, options, &process->sites[i]);
	return good;
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static int compare(const void *left, const void *right, void *context)
{
	const struct tpa_tree_node *nodes = context;
	const struct tpa_tree_node *a = &nodes[*(const uint32_t *)left], *b = &nodes[*(const uint32_t *)right];
	int order;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	order = strcmp(text_or_empty(a->function), text_or_empty(b->function));
	return order ? order : strcmp(text_or_empty(a->module), text_or_empty(b->module));
}

bool tpa_tree_finish(struct tpa_tree *tree)
{
	struct tpa_tree_node *nodes = tree->nodes;
	uint32_t *order = calloc(tree->count, sizeof(*order));
	uint32_t *depths = calloc(tree->count, sizeof(*depths));
	size_t count = tree->count;

	if (!order || !depths) {
		free(order);
		free(depths);
		return false;
	}
	for (size_t i = count; i-- > 0;) { /* children are behind their parents */
		nodes[i].bytes += nodes[i].self_bytes;
		nodes[i].calls += nodes[i].self_calls;
		if (i) {
			nodes[nodes[i].parent].bytes += nodes[i].bytes;
			nodes[nodes[i].parent].calls += nodes[i].calls;
		}
		order[i] = (uint32_t)i;
	}
	for (size_t i = 1; i < count; i++) {
		depths[i] = depths[nodes[i].parent] + 1;
		tree->depth = depths[i] > tree->depth ? depths[i] : tree->depth;
	}
	qsort_r(order, count, sizeof(*order), compare, nodes);
	for (size_t i = count; i-- > 0;) { /* smallest first: each goes to the front of its parent's list */
		uint32_t node = order[i], parent = nodes[node].parent;

		if (node) {
			nodes[node].next_sibling = nodes[parent].first_child;
			nodes[parent].first_child = node;
		}
	}
	free(order);
	free(depths);
	return true;
}
