/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree from which a cover is chosen. */
#include "report/rows/cover_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/rows/known_caches.h"
#include "report/rows/own_code.h"

#define PATH_MOST 4096 /* lines in a path; deeper ones count towards its last line */

void tpa_cover_tree_init(struct tpa_cover_impl *tree)
{
	memset(tree, 0, sizeof(*tree));
	tpa_keys_init(&tree->keys);
	tpa_grow(&tree->nodes, &tree->node_room, 1, sizeof(*tree->nodes));
	memset(tree->nodes, 0, sizeof(*tree->nodes));
	tree->node_count = 1;
}

void tpa_cover_tree_free(struct tpa_cover_impl *tree)
{
	tpa_keys_free(&tree->keys);
	tpa_pairs_free(&tree->children);
	tpa_pairs_free(&tree->parts);
	free((void *)tree->part_names);
	tpa_stack_free(&tree->stack);
	free(tree->nodes);
	free(tree->leaves);
}

/* ---- nodes ---- */

/* The process whose stacks are being added. */
struct source {
	struct tpa_cover_impl *tree;
	const struct tpa_process *process;
	size_t index;
	struct tpa_symbols *symbols;
	const regex_t *filter;
	bool cpu;
};

/* Returns the child of `parent` with the key of `wanted`; adds a copy of `wanted` if there is none. */
static uint32_t child_of(struct tpa_cover_impl *tree, uint32_t parent, const struct tpa_cover_node *wanted)
{
	bool found = false;
	uint32_t *at = tpa_pairs_at(&tree->children, parent, (uintptr_t)wanted->key, &found);

	if (!found) {
		tpa_grow(&tree->nodes, &tree->node_room, tree->node_count + 1, sizeof(*tree->nodes));
		tree->nodes[tree->node_count] = *wanted;
		tree->nodes[tree->node_count].parent = parent;
		*at = (uint32_t)tree->node_count++;
	}
	return *at;
}

static uint32_t line_node(const struct source *source, uint32_t parent, const struct tpa_line *line, bool function)
{
	struct tpa_cover_impl *tree = source->tree;
	struct tpa_cover_node node = {
		.about = tree->nodes[parent].about, .line = *line, .function = function, .process = source->index
	};

	node.key = tpa_keys_get(&tree->keys, line, function ? TPA_KEY_FUNCTION : TPA_KEY_LINE);
	return child_of(tree, parent, &node);
}

/* `group`: the name of the row. NULL: the node is no row; it only holds its children together. */
static uint32_t group_node(const struct source *source, uint32_t parent, enum tpa_about about, const char *group)
{
	struct tpa_cover_node node = { .about = about, .group = group, .process = source->index };
	uint32_t child;

	node.key = group ? group : tpa_about_name(about); /* constants: equal names are one text */
	child = child_of(source->tree, parent, &node);
	if (!group)
		source->tree->nodes[child].key = NULL;
	return child;
}

/* ---- paths ---- */

/* One line for each function, callers first. A recursive function is in it once, with its innermost line. */
struct path {
	const struct tpa_line *lines[PATH_MOST];
	const char *keys[PATH_MOST];
	size_t count;
};

static void push(struct tpa_cover_impl *tree, struct path *path, const struct tpa_line *line)
{
	const char *key = tpa_keys_get(&tree->keys, line, TPA_KEY_FUNCTION);

	for (size_t i = 0; i < path->count; i++)
		if (path->keys[i] == key)
			path->count = i;
	if (path->count == PATH_MOST)
		return;
	path->keys[path->count] = key;
	path->lines[path->count++] = line;
}

/* A line with neither a function name nor a file tells a reader nothing. */
static bool is_named(const struct tpa_line *line)
{
	return line->location->function || line->location->file;
}

/*
 * Fills `path` with the user's own lines or, if there are none (*own: false), with all named lines except the
 * interpreter's (and, for memory, those of the allocator and the language's library). Returns the index of the innermost line in the stack;
 * SIZE_MAX: the path is empty.
 */
static size_t make_path(const struct source *source, struct path *path, bool *own)
{
	const struct tpa_stack *stack = &source->tree->stack;
	size_t innermost = SIZE_MAX;

	path->count = 0;
	for (size_t i = stack->last; i-- > stack->first;) {
		if (!tpa_line_is_own(stack, &stack->lines[i]))
			continue;
		push(source->tree, path, &stack->lines[i]);
		innermost = i;
	}
	*own = innermost != SIZE_MAX;
	for (size_t i = *own ? 0 : stack->last; i-- > stack->first;) {
		const struct tpa_line *line = &stack->lines[i];

		if (!is_named(line) || tpa_line_is_interpreters(stack, line) ||
		    (!source->cpu && line->location->known.plumbing))
			continue;
		push(source->tree, path, line);
		innermost = i;
	}
	return innermost;
}

/* Adds a path to the tree. CPU time belongs to the innermost function alone, whichever caller wanted it. */
static uint32_t add_path(const struct source *source, uint32_t node, const struct path *path, bool own)
{
	for (size_t i = source->cpu && path->count ? path->count - 1 : 0; i < path->count; i++) {
		const struct tpa_location *location = path->lines[i]->location;

		node = line_node(source, node, path->lines[i], true);
		if (location->file && location->line && (location->python || (own && !source->cpu)))
			node = line_node(source, node, path->lines[i], false);
	}
	return node;
}

/* ---- what a stack is for ---- */

/* Is it an initializer of a library, run before main() or when the library is loaded? */
static bool is_library_start(const struct tpa_stack *stack)
{
	for (size_t i = stack->last; i < stack->count; i++) {
		const char *function = stack->lines[i].location->function;

		if (function && (strcmp(function, "_dl_init") == 0 || strcmp(function, "call_init") == 0))
			return true;
	}
	return false;
}

/*
 * For memory, what counts is who keeps it. For CPU time, what counts is what ran: only Python's start and imports
 * matter.
 */
static enum tpa_holder holder_of(const struct source *source, uint32_t stack_node)
{
	enum tpa_holder holder;

	if (source->cpu && tpa_node_is_import(source->process->trace, stack_node))
		return TPA_HOLDER_PYTHON_IMPORTS;
	holder = tpa_node_holder(source->process->trace, source->symbols, stack_node);
	return source->cpu && holder != TPA_HOLDER_PYTHON_START ? TPA_HOLDER_NONE : holder;
}

static uint32_t top_of(const struct source *source, uint32_t stack_node, bool own, bool *whole)
{
	enum tpa_holder holder = holder_of(source, stack_node);

	*whole = true;
	if (holder == TPA_HOLDER_PYTHON_IMPORTS) {
		*whole = !own;
		return group_node(source, 0, TPA_ABOUT_IMPORT, "imported modules");
	}
	if (holder == TPA_HOLDER_PYTHON_START || holder == TPA_HOLDER_OPENMP)
		return group_node(source, 0, TPA_ABOUT_START, tpa_holder_name(holder));
	if (holder != TPA_HOLDER_NONE)
		return group_node(source, 0, TPA_ABOUT_REGISTRY, tpa_holder_name(holder));
	if (!own && is_library_start(&source->tree->stack))
		return group_node(source, 0, TPA_ABOUT_START, "libraries' start");
	*whole = false;
	return group_node(source, 0, own ? TPA_ABOUT_PROGRAM : TPA_ABOUT_OTHER, NULL);
}

static const char *print_part(struct tpa_cover_impl *tree, const struct tpa_line *line)
{
	char name[400], text[1400];
	const char *function = tpa_line_name(line, name, sizeof(name));

	if (line->location->file && line->location->line)
		snprintf(text, sizeof(text), "%s (%s:%d)", function, tpa_file_name(line->location->file),
			 line->location->line);
	else
		snprintf(text, sizeof(text), "%s", function);
	return tpa_arena_intern(tree->keys.arena, text);
}

const char *tpa_cover_part_name(struct tpa_cover_impl *tree, const struct tpa_line *line)
{
	bool known;
	uint32_t *at = tpa_pairs_at(&tree->parts, (uintptr_t)line->location, 0, &known);

	if (!known) {
		*at = (uint32_t)tree->part_count;
		*TPA_APPEND(tree->part_names, tree->part_count, tree->part_room) = print_part(tree, line);
	}
	return tree->part_names[*at];
}

/*
 * What a stack's part of a row is called: the innermost Python line below the user's line; else the op; else the line
 * that memory is put down to. NULL: the user's line itself.
 */
static const char *part_of(const struct source *source, size_t innermost, uint32_t op)
{
	const struct tpa_stack *stack = &source->tree->stack;
	const char *name = tpa_process_op_name(source->process, op);
	const struct tpa_line *line;

	for (size_t i = stack->first; i < innermost && i < stack->last; i++)
		if (stack->lines[i].location->python && stack->lines[i].location->file)
			return tpa_cover_part_name(source->tree, &stack->lines[i]);
	if (name)
		return tpa_arena_intern(source->tree->keys.arena, name);
	line = tpa_stack_own(stack);
	if (!line || innermost == SIZE_MAX || line >= &stack->lines[innermost] || !is_named(line))
		return NULL;
	return tpa_cover_part_name(source->tree, line);
}

static void add_stack(const struct source *source, uint32_t stack_node, uint32_t op, uint64_t amount, uint64_t blocks)
{
	struct tpa_cover_impl *tree = source->tree;
	struct tpa_cover_leaf *leaf;
	size_t innermost;
	bool own, whole;
	struct path path;
	uint32_t node;

	tpa_stack_read(&tree->stack, source->process->trace, source->symbols, stack_node);
	if (source->filter && !tpa_stack_matches(&tree->stack, source->filter))
		return;
	innermost = make_path(source, &path, &own);
	node = top_of(source, stack_node, own, &whole);
	if (!whole && innermost == SIZE_MAX)
		node = group_node(source, node, TPA_ABOUT_OTHER, "stacks without names");
	else if (!whole)
		node = add_path(source, node, &path, own);
	tree->nodes[node].amount += amount;
	tree->nodes[node].blocks += blocks;
	leaf = TPA_APPEND(tree->leaves, tree->leaf_count, tree->leaf_room);
	*leaf = (struct tpa_cover_leaf){ .node = node, .amount = amount, .blocks = blocks };
	leaf->part = part_of(source, innermost, op);
}

void tpa_cover_add_peak(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
			struct tpa_symbols *symbols, const regex_t *filter)
{
	const struct source source = { cover->impl, process, index, symbols, filter, false };

	for (size_t i = 0; i < process->site_count; i++) {
		const struct tpa_site *site = &process->sites[i];

		if (site->peak_bytes || site->peak_blocks)
			add_stack(&source, site->node, site->op, site->peak_bytes, site->peak_blocks);
	}
}

void tpa_cover_add_holes(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
			 struct tpa_symbols *symbols, const struct tpa_hole_reading *reading)
{
	const struct source source = { cover->impl, process, index, symbols, NULL, false };

	for (size_t i = 0; i < reading->count; i++)
		add_stack(&source, reading->list[i].node, reading->list[i].op, reading->list[i].bytes, 0);
}

void tpa_cover_add_cpu(struct tpa_cover *cover, const struct tpa_process *process, size_t index,
		       struct tpa_symbols *symbols, const regex_t *filter)
{
	const struct source source = { cover->impl, process, index, symbols, filter, true };

	for (size_t i = 0; i < process->cpu_site_count; i++) {
		const struct tpa_cpu_site *site = &process->cpu_sites[i];

		add_stack(&source, site->node, site->op, tpa_cpu_ns(process, &site->cpu), site->cpu.samples);
	}
}
