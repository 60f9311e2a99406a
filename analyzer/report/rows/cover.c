/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the rows of a cover. */
#include "report/rows/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/order.h"
#include "report/rows/cover_tree.h"

#define LEAST 0.01	  /* least share of a row if the number of rows is limited */
#define LEAST_OF_ALL 1e-3 /* least share of a row if it is not */
#define FACTOR 1.05	  /* ratio of one share tried to the one before */

static const char *const about_names[TPA_ABOUTS] = {
	[TPA_ABOUT_PROGRAM] = "program",   [TPA_ABOUT_IMPORT] = "import", [TPA_ABOUT_START] = "start",
	[TPA_ABOUT_REGISTRY] = "registry", [TPA_ABOUT_OTHER] = "other",
};

const char *tpa_about_name(enum tpa_about about)
{
	return about_names[about];
}

struct tpa_cover *tpa_cover_new(void)
{
	struct tpa_cover *cover = tpa_zalloc(1, sizeof(*cover));

	cover->impl = tpa_zalloc(1, sizeof(*cover->impl));
	tpa_cover_tree_init(cover->impl);
	return cover;
}

void tpa_cover_free(struct tpa_cover *cover)
{
	if (!cover)
		return;
	tpa_cover_tree_free(cover->impl);
	free(cover->impl);
	free(cover->rows);
	free(cover);
}

/* ---- choosing ---- */

struct choice {
	const struct tpa_cover_impl *tree;
	struct tpa_pairs helpers; /* keys of lines that are helpers */
	uint64_t *left;		  /* by node: its own amount, and what its children leave that are no rows */
	uint32_t *chosen;	  /* nodes that are rows */
	bool *is_chosen;
	size_t count;
};

static bool may_be_row(const struct choice *choice, const struct tpa_cover_node *node)
{
	return node->key && !tpa_pairs_find(&choice->helpers, (uintptr_t)node->key, 0);
}

/*
 * Chooses the deepest nodes that have at least `least` left. Goes backwards, because children come after their
 * parents.
 */
static void choose(struct choice *choice, double least)
{
	const struct tpa_cover_impl *tree = choice->tree;

	choice->count = 0;
	for (size_t i = 0; i < tree->node_count; i++)
		choice->left[i] = tree->nodes[i].amount;
	for (size_t i = tree->node_count; i-- > 1;) {
		const struct tpa_cover_node *node = &tree->nodes[i];

		choice->is_chosen[i] = choice->left[i] && (double)choice->left[i] >= least && may_be_row(choice, node);
		if (choice->is_chosen[i])
			choice->chosen[choice->count++] = (uint32_t)i;
		else
			choice->left[node->parent] += choice->left[i];
	}
}

/* Marks keys that are in several rows as helpers. Returns false if there are none. */
static bool find_helpers(struct choice *choice)
{
	struct tpa_pairs seen = { NULL };
	bool any = false;

	for (size_t i = 0; i < choice->count; i++) {
		const struct tpa_cover_node *node = &choice->tree->nodes[choice->chosen[i]];
		bool found = false;

		*tpa_pairs_at(&seen, (uintptr_t)node->key, node->about, &found) = 1;
		if (!found)
			continue;
		any = true;
		tpa_pairs_set(&choice->helpers, (uintptr_t)node->key, 0, 1);
	}
	tpa_pairs_free(&seen);
	return any;
}

static void choose_above_helpers(struct choice *choice, double least)
{
	tpa_pairs_free(&choice->helpers);
	do
		choose(choice, least);
	while (find_helpers(choice));
}

/* ---- rows ---- */

/* Returns the chosen node that a node's amount belongs to; 0: none. */
static uint32_t row_above(const struct choice *choice, uint32_t node)
{
	while (node && !choice->is_chosen[node])
		node = choice->tree->nodes[node].parent;
	return node;
}

static void make_rows(struct tpa_cover *cover, const struct choice *choice, uint32_t *row_of)
{
	cover->count = choice->count;
	cover->rows = tpa_zalloc(choice->count + 1, sizeof(*cover->rows));
	for (size_t i = 0; i < choice->count; i++) {
		const struct tpa_cover_node *node = &choice->tree->nodes[choice->chosen[i]];

		cover->rows[i] = (struct tpa_cover_row){ .line = node->line,
							 .group = node->group,
							 .function = node->function,
							 .about = node->about,
							 .process = node->process };
		row_of[choice->chosen[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < choice->count; i++) {
		uint32_t above = row_above(choice, choice->tree->nodes[choice->chosen[i]].parent);

		if (above)
			cover->rows[row_of[above]].rest = true;
	}
}

static void offer_part(struct tpa_cover_row *row, const char *name, uint64_t amount)
{
	size_t at = row->part_count;

	if (4 * amount < row->amount)
		return;
	while (at && row->parts[at - 1].amount < amount)
		at--;
	if (at == TPA_COVER_PARTS)
		return;
	if (row->part_count < TPA_COVER_PARTS)
		row->part_count++;
	memmove(&row->parts[at + 1], &row->parts[at], (row->part_count - at - 1) * sizeof(*row->parts));
	row->parts[at] = (struct tpa_cover_part){ name, amount };
}

/*
 * The part of the row that a leaf belongs to: the own line below the row or, if there is none, what the row's line
 * called.
 */
static const char *part_name(const struct tpa_cover *cover, const struct tpa_cover_leaf *leaf, uint32_t row)
{
	const struct tpa_cover_node *nodes = cover->impl->nodes, *node = &nodes[leaf->node];

	if (leaf->node == row || !node->line.location ||
	    (nodes[row].function && node->parent == row && !node->function))
		return leaf->part;
	return tpa_cover_part_name(cover->impl, &node->line);
}

/* Sums up the leaves by row and part. Sums are numbered from 1: sums[0] is unused. */
static void add_parts(struct tpa_cover *cover, const struct choice *choice, const uint32_t *row_of)
{
	const struct tpa_cover_impl *tree = cover->impl;
	struct sum {
		size_t row;
		struct tpa_cover_part part;
	} *sums = tpa_zalloc(tree->leaf_count + 1, sizeof(*sums));
	struct tpa_pairs known = { NULL };
	size_t count = 0;

	for (size_t i = 0; i < tree->leaf_count; i++) {
		const struct tpa_cover_leaf *leaf = &tree->leaves[i];
		uint32_t node = row_above(choice, leaf->node);
		const char *name = node ? part_name(cover, leaf, node) : NULL;
		bool found = false;
		uint32_t *at;

		cover->amount += leaf->amount;
		cover->blocks += leaf->blocks;
		if (!node)
			continue;
		cover->covered += leaf->amount;
		cover->rows[row_of[node]].amount += leaf->amount;
		cover->rows[row_of[node]].blocks += leaf->blocks;
		if (!name)
			continue;
		at = tpa_pairs_at(&known, node, (uintptr_t)name, &found);
		if (!found)
			*at = (uint32_t)++count;
		sums[*at].row = row_of[node];
		sums[*at].part.name = name;
		sums[*at].part.amount += leaf->amount;
	}
	for (size_t i = 1; i <= count; i++)
		offer_part(&cover->rows[sums[i].row], sums[i].part.name, sums[i].part.amount);
	tpa_pairs_free(&known);
	free(sums);
}

/* Is it the work of the program itself, or of libraries about which nothing is known? */
static bool is_of_interest(const struct tpa_cover_row *row)
{
	return row->about == TPA_ABOUT_PROGRAM || row->about == TPA_ABOUT_OTHER;
}

static int compare(const void *left, const void *right)
{
	const struct tpa_cover_row *a = left, *b = right;

	return TPA_DOWN(is_of_interest(a), is_of_interest(b)) ?: TPA_DOWN(a->amount, b->amount);
}

void tpa_cover_finish(struct tpa_cover *cover, size_t most)
{
	const struct tpa_cover_impl *tree = cover->impl;
	struct choice choice = { .tree = tree };
	uint32_t *row_of = tpa_zalloc(tree->node_count, sizeof(*row_of));
	double all = 0, share = most ? LEAST : LEAST_OF_ALL;

	choice.left = tpa_zalloc(tree->node_count, sizeof(*choice.left));
	choice.chosen = tpa_zalloc(tree->node_count, sizeof(*choice.chosen));
	choice.is_chosen = tpa_zalloc(tree->node_count, sizeof(*choice.is_chosen));
	for (size_t i = 0; i < tree->leaf_count; i++)
		all += (double)tree->leaves[i].amount;
	choose_above_helpers(&choice, share * all);
	for (; most && choice.count > most && share < 1; share *= FACTOR)
		choose_above_helpers(&choice, share * all);
	make_rows(cover, &choice, row_of);
	add_parts(cover, &choice, row_of);
	qsort(cover->rows, cover->count, sizeof(*cover->rows), compare);
	tpa_pairs_free(&choice.helpers);
	free(choice.left);
	free(choice.chosen);
	free(choice.is_chosen);
	free(row_of);
}

bool tpa_cover_is_by_line(const struct tpa_cover *cover)
{
	uint64_t by_line = 0;

	for (size_t i = 0; i < cover->count; i++)
		if (cover->rows[i].line.location && !cover->rows[i].function)
			by_line += cover->rows[i].amount;
	return 2 * by_line >= cover->covered;
}
