/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/suppressions.h"

struct tpa_tree *tpa_tree_new(void)
{
	struct tpa_tree *tree = tpa_zalloc(1, sizeof(*tree));

	tpa_grow(&tree->nodes, &tree->room, 1, sizeof(*tree->nodes));
	tpa_keys_init(&tree->keys);
	tree->nodes[0] = (struct tpa_tree_node){ .function = "all" };
	tree->count = 1;
	return tree;
}

void tpa_tree_free(struct tpa_tree *tree)
{
	tpa_keys_free(&tree->keys);
	tpa_pairs_free(&tree->children);
	tpa_stack_free(&tree->stack);
	free(tree->nodes);
	free(tree);
}

/* Returns the child of `parent` with this key. *fresh: it is new, and the caller fills it in. */
static uint32_t child_of(struct tpa_tree *tree, uint32_t parent, const char *key, bool *fresh)
{
	bool found;
	uint32_t *at = tpa_pairs_at(&tree->children, parent, (uintptr_t)key, &found);

	if (!found) {
		tpa_grow(&tree->nodes, &tree->room, tree->count + 1, sizeof(*tree->nodes));
		*at = (uint32_t)tree->count++;
		tree->nodes[*at] = (struct tpa_tree_node){ .parent = parent };
	}
	*fresh = !found;
	return *at;
}

static uint32_t named_child(struct tpa_tree *tree, uint32_t parent, const char *name)
{
	const char *key = tpa_arena_intern(tree->keys.arena, name);
	bool fresh;
	uint32_t child = child_of(tree, parent, key, &fresh);

	if (fresh) {
		tree->nodes[child].function = key;
		tree->nodes[child].module = "";
	}
	return child;
}

static uint32_t line_child(struct tpa_tree *tree, uint32_t parent, const struct tpa_line *line)
{
	const char *key = tpa_keys_get(&tree->keys, line, TPA_KEY_FUNCTION);
	bool fresh;
	uint32_t child = child_of(tree, parent, key, &fresh);
	char place[1024];

	if (fresh) {
		tree->nodes[child].function = line->location->function;
		tree->nodes[child].module = line->symbol->module;
		if (line->location->file)
			tree->nodes[child].place = tpa_arena_intern(
				tree->keys.arena, tpa_line_place(line, tree->stack.trace->cwd, place, sizeof(place)));
	}
	return child;
}

/* Adds to the node of the stack that was just read. The path goes from its outer end to the line `first`. */
static void add_leaf(struct tpa_tree *tree, uint32_t node, size_t first, uint64_t bytes, uint64_t calls)
{
	const struct tpa_stack *stack = &tree->stack;

	if (first == stack->last)
		node = named_child(tree, node, "(stack not recorded)");
	else if (stack->end == TPROF_NODE_CUT)
		node = named_child(tree, node, "(outer frames cut)");
	for (size_t i = stack->last; i-- > first;)
		node = line_child(tree, node, &stack->lines[i]);
	tree->nodes[node].self_bytes += bytes;
	tree->nodes[node].self_calls += calls;
}

/* The bytes of temporary allocations are not recorded: they are taken as a proportional part of the site's bytes. */
static void add_site(struct tpa_tree *tree, uint32_t top, const struct tpa_process *process,
		     struct tpa_symbols *symbols, const struct tpa_tree_options *options, const struct tpa_site *site)
{
	struct tpa_sums sums = tpa_sums_of(site);
	uint64_t bytes = tpa_sums_bytes(&sums, options->what), calls = tpa_sums_blocks(&sums, options->what);
	struct tpa_stack *stack = &tree->stack;

	if (options->what == TPA_WHAT_TEMPORARY)
		bytes = sums.allocations ? (uint64_t)((double)bytes * (double)sums.temporary / (double)sums.allocations)
					 : 0;
	if (!bytes && !calls)
		return;
	tpa_stack_read(stack, process->trace, symbols, site->node);
	if (options->filter && !tpa_stack_matches(stack, options->filter))
		return;
	if (!options->suppressions ||
	    !tpa_suppressions_match(options->suppressions, stack, site->live_blocks, site->live_bytes))
		add_leaf(tree, top, stack->first, bytes, calls);
}

/* CPU time goes to the innermost line, without folding: time in malloc is malloc's. */
static void add_cpu_site(struct tpa_tree *tree, uint32_t top, const struct tpa_process *process,
			 struct tpa_symbols *symbols, const struct tpa_tree_options *options,
			 const struct tpa_cpu_site *site)
{
	tpa_stack_read(&tree->stack, process->trace, symbols, site->node);
	if (!options->filter || tpa_stack_matches(&tree->stack, options->filter))
		add_leaf(tree, top, 0, tpa_cpu_ns(process, &site->cpu), site->cpu.samples);
}

void tpa_tree_add(struct tpa_tree *tree, const struct tpa_process *process, struct tpa_symbols *symbols,
		  const struct tpa_tree_options *options)
{
	uint32_t top = options->label ? named_child(tree, 0, options->label) : 0;

	if (options->what == TPA_WHAT_CPU)
		for (size_t i = 0; i < process->cpu_site_count; i++)
			add_cpu_site(tree, top, process, symbols, options, &process->cpu_sites[i]);
	else
		for (size_t i = 0; i < process->site_count; i++)
			add_site(tree, top, process, symbols, options, &process->sites[i]);
}

static const char *text_or_empty(const char *text)
{
	return text ? text : "";
}

static int compare(const void *left, const void *right, void *context)
{
	const struct tpa_tree_node *nodes = context;
	const struct tpa_tree_node *a = &nodes[*(const uint32_t *)left], *b = &nodes[*(const uint32_t *)right];

	return TPA_DOWN(a->bytes, b->bytes) ?: strcmp(text_or_empty(a->function), text_or_empty(b->function)) ?:
	       strcmp(text_or_empty(a->module), text_or_empty(b->module));
}

void tpa_tree_finish(struct tpa_tree *tree)
{
	struct tpa_tree_node *nodes = tree->nodes;
	uint32_t *order = tpa_zalloc(tree->count, sizeof(*order));
	uint32_t *depths = tpa_zalloc(tree->count, sizeof(*depths));
	size_t count = tree->count;

	for (size_t i = count; i-- > 0;) { /* children come after their parents */
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
	for (size_t i = count; i-- > 0;) { /* smallest first: each becomes the first child */
		uint32_t node = order[i], parent = nodes[node].parent;

		if (node) {
			nodes[node].next_sibling = nodes[parent].first_child;
			nodes[parent].first_child = node;
		}
	}
	free(order);
	free(depths);
}
