/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/recall.h"

#include "stacks/leaves.h"

#define LEAF TPC_RECALL_LEAF
#define FIRST_EDGES 1024u
#define EDGE_BYTES sizeof(struct tpc_recall_edge)
#define FAR TPC_RECALL_FAR

static uint64_t load(uintptr_t slot)
{
	return *(const uintptr_t *)slot;
}

/* ---- comparing ---- */

/* Four instructions a word, two of which the processor fuses; the branches are never taken. */
TPC_HOT bool same_group(const struct tpc_recall_group *group, const uint64_t *slot)
{
	return tpc_likely(slot[0] == group->values[0]) && tpc_likely(slot[group->steps[1]] == group->values[1]) &&
	       tpc_likely(slot[group->steps[2]] == group->values[2]) &&
	       tpc_likely(slot[group->steps[3]] == group->values[3]);
}

bool tpc_recall_same(const struct tpc_recall *recall, const struct tpc_recall_leaf *leaf, uint32_t end)
{
	const uint16_t *places = leaf->pieces;
	const struct tpc_recall_piece *piece = tpc_recall_piece_at(recall, *places);
	const struct tpc_recall_group *group = piece->group, *last = group + leaf->groups;
	const uint64_t *slot = (const uint64_t *)piece->base;

	for (; group < last; group++) {
		slot += group->steps[0];
		if (!same_group(group, slot))
			return false;
	}
	while (*++places != end) {
		piece = tpc_recall_piece_at(recall, *places);
		slot = (const uint64_t *)piece->base;
		if (!same_group(&piece->group[0], slot))
			return false;
		slot += piece->group[1].steps[0];
		if (!same_group(&piece->group[1], slot))
			return false;
		slot += piece->group[2].steps[0];
		if (!same_group(&piece->group[2], slot))
			return false;
		slot += piece->group[3].steps[0];
		if (!same_group(&piece->group[3], slot))
			return false;
	}
	return true;
}

/* ---- edges ---- */

/* The edge with that key, or the unused one where it belongs. */
static struct tpc_recall_edge *edge_of(struct tpc_recall *recall, uint64_t key)
{
	for (uint64_t at = key >> 36;; at += sizeof(struct tpc_recall_edge)) {
		struct tpc_recall_edge *edge =
			(struct tpc_recall_edge *)((uintptr_t)recall->edges + (at & recall->edge_mask));

		if (edge->key == key || !edge->key)
			return edge;
	}
}

static void edge_set(struct tpc_recall *recall, uint64_t key, uint32_t to, uint32_t distance)
{
	struct tpc_recall_edge *edge = edge_of(recall, key);

	recall->edge_count += !edge->key;
	*edge = (struct tpc_recall_edge){ key, to, distance };
}

/* The capacity for edges. */
static uint32_t edges_of(const struct tpc_recall *recall)
{
	return (uint32_t)(recall->edge_mask / sizeof(struct tpc_recall_edge)) + 1;
}

/* ---- adding ---- */

static uint32_t mask_of(uint32_t edges)
{
	return (uint32_t)((edges - 1) * EDGE_BYTES);
}

static bool edges_short(const struct tpc_recall *recall)
{
	return recall->edge_count >= edges_of(recall) / 4 * 3;
}

void tpc_recall_clear(struct tpc_recall *recall)
{
	if (recall->descents) {
		memset(recall->forks, 0, sizeof(recall->forks));
		memset(recall->shortcuts, 0, sizeof(recall->shortcuts));
	}
	recall->descents = 0;
	if (recall->used)
		memset(recall->shared, 0, sizeof(recall->shared));
	if (recall->end_count)
		memset(recall->ends, 0, sizeof(recall->ends));
	recall->end_count = 0;
	if (!recall->edge_mask)
		recall->edge_mask = mask_of(FIRST_EDGES);
	memset(recall->edges, 0, recall->edge_mask + EDGE_BYTES);
	recall->edge_count = 0;
	recall->used = TPC_RECALL_LINE; /* 0 is nowhere */
	recall->branches = 0;
	recall->written = 0;
	recall->expected = 0;
	recall->stamp = 0;
	recall->age++;
}

/* Full: forgets everything, and makes more room for edges if they were what was short. */
static void start_over(struct tpc_recall *recall)
{
	if (edges_short(recall) && edges_of(recall) < TPC_RECALL_EDGES)
		recall->edge_mask = mask_of(edges_of(recall) * 2);
	tpc_recall_clear(recall);
}

/* The first return address that differs. False: all are unchanged. */
static bool first_difference(const struct tpc_recall *recall, const struct tpc_recall_leaf *leaf, struct tpc_word *word)
{
	struct tpc_leaf_cursor cursor = tpc_leaf_begin(recall, leaf);

	while (tpc_leaf_next_return(&cursor, word)) {
		if (load(word->slot) != word->value)
			return true;
	}
	return false;
}

/* The key of the edge that leads to the first branch at or beyond `distance`, or to a leaf. */
static uint64_t edge_above(struct tpc_recall *recall, const struct tpc_start *start, uint32_t distance)
{
	uint64_t key = tpc_recall_start_key(start->pc, start->sp);

	for (;;) {
		const struct tpc_recall_edge *edge = edge_of(recall, key);

		if (!edge->key || edge->to & LEAF || edge->distance >= distance)
			return key;
		key = tpc_recall_value_key(edge->to, load(start->sp + edge->distance));
	}
}

/* `other`, a known stack with the same start, differs first at `at`, where it has another value. */
static void add_beside(struct tpc_recall *recall, const struct tpc_start *start, uint32_t other,
		       const struct tpc_word *at, uint32_t leaf)
{
	uint32_t distance = (uint32_t)(at->slot - start->sp), branch;
	struct tpc_recall_edge *above = edge_of(recall, edge_above(recall, start, distance));
	struct tpc_recall_edge below = *above;

	if (!below.key)
		return; /* a collision: not worth more */
	if (!(below.to & LEAF) && below.distance == distance) {
		branch = below.to;
	} else {
		branch = (TPC_RECALL_WORDS - ++recall->branches) << 1;
		recall->words[branch >> 1] = other;
		above->to = branch;
		above->distance = distance;
		edge_set(recall, tpc_recall_value_key(branch, at->value), below.to, below.distance);
	}
	edge_set(recall, tpc_recall_value_key(branch, load(at->slot)), leaf, 0);
}

/* Goes down the branches. NULL: there is no way on. *to: where it ended. */
static const struct tpc_recall_leaf *descend(const struct tpc_recall *recall, const struct tpc_start *start,
					     uint32_t *to)
{
	const struct tpc_recall_edge *edge = tpc_recall_edge(recall, tpc_recall_start_key(start->pc, start->sp));

	while (edge) {
		uintptr_t slot = start->sp + edge->distance;

		*to = edge->to;
		if (edge->to & LEAF)
			return tpc_recall_leaf_at(recall, edge->to);
		if (slot + sizeof(uintptr_t) > start->high)
			return NULL;
		edge = tpc_recall_edge(recall, tpc_recall_value_key(edge->to, load(slot)));
	}
	return NULL;
}

/* The leaf that represents the end of the way down; NULL: no stack has this start. */
static const struct tpc_recall_leaf *find_other(const struct tpc_recall *recall, const struct tpc_start *start,
						uint32_t *other)
{
	*other = 0;
	if (!descend(recall, start, other) && *other)
		*other = (uint32_t)recall->words[*other >> 1];
	return *other ? tpc_recall_leaf_at(recall, *other) : NULL;
}

void tpc_recall_add(struct tpc_recall *recall, const struct tpc_start *start, const struct tpc_outcome *outcome)
{
	size_t words = tpc_leaf_most(outcome) + 1u; /* and a branch */
	const struct tpc_recall_leaf *beside;
	struct tpc_word difference;
	uint32_t other, leaf;

	if (words > TPC_RECALL_WORDS / 8)
		return;
	if (recall->used + recall->branches + words > TPC_RECALL_WORDS || edges_short(recall))
		start_over(recall);
	beside = find_other(recall, start, &other);
	if (beside && (beside->pc != start->pc || beside->sp != start->sp || start->sp + beside->top > start->high ||
		       !first_difference(recall, beside, &difference)))
		return; /* a collision, or only an fp differs: rare enough for a walk */
	leaf = tpc_leaf_write(recall, start, outcome);
	if (!leaf)
		return;
	if (beside)
		add_beside(recall, start, other, &difference, leaf);
	else
		edge_set(recall, tpc_recall_start_key(start->pc, start->sp), leaf, 0);
}

/* ---- what follows what ---- */

/* `last` followed `before`. If nothing was known, that counts neither for nor against. */
static void note_next(struct tpc_recall *recall, struct tpc_recall_leaf *before, uint32_t last)
{
	if (before->next == last) {
		before->sure = TPC_RECALL_TWICE;
		recall->in_vain -= recall->in_vain < TPC_RECALL_OF_USE ? recall->in_vain : TPC_RECALL_OF_USE;
		return;
	}
	if (before->next && recall->in_vain < (TPC_RECALL_PACE_MOST - TPC_RECALL_PACE) * TPC_RECALL_PACE_STEP)
		recall->in_vain++;
	if (before->sure)
		before->sure--;
	else
		before->next = last;
}

void tpc_recall_learn(struct tpc_recall *recall, uint32_t before)
{
	uint32_t pace = TPC_RECALL_PACE + recall->in_vain / TPC_RECALL_PACE_STEP;

	recall->drawn = recall->drawn * 1664525 + 1013904223; /* Knuth, TAOCP 3.3.4, line 16 of table 1 */
	recall->patience = (recall->drawn >> 16) % (2 * pace - 1);
	if (before && recall->last)
		note_next(recall, tpc_recall_leaf_at(recall, before), recall->last);
}

/* ---- shortcuts ---- */

/* Adds a word to those that are asked, in ascending order. False: there are four others. */
static bool ask(uint16_t *asked, uint16_t word)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < TPC_RECALL_ASKED; i++) {
		if (asked[i] == word)
			return true;
	}
	if (asked[0]) /* unused ones are 0, and come first */
		return false;
	for (; at + 1 < TPC_RECALL_ASKED && asked[at + 1] < word; at++)
		asked[at] = asked[at + 1];
	asked[at] = word;
	return true;
}

/* Adds everything that the branches on the way down ask. False: it is too much. */
static bool ask_all(const struct tpc_recall *recall, const struct tpc_start *start, struct tpc_recall_fork *fork)
{
	const struct tpc_recall_edge *edge = tpc_recall_edge(recall, fork->key);

	while (edge && !(edge->to & LEAF)) {
		if (edge->distance >= FAR || !ask(fork->asked, (uint16_t)(edge->distance / sizeof(uintptr_t) + 1)))
			return false;
		edge = tpc_recall_edge(recall, tpc_recall_value_key(edge->to, load(start->sp + edge->distance)));
	}
	return true;
}

/* Makes a shortcut to where the way down led. If the fork asks more words now, its earlier shortcuts lead nowhere. */
static void shorten(struct tpc_recall *recall, const struct tpc_start *start, uint32_t to)
{
	uint64_t key = tpc_recall_start_key(start->pc, start->sp), hash;
	struct tpc_recall_fork *at = (struct tpc_recall_fork *)(uintptr_t)tpc_recall_fork_at(recall, key);
	struct tpc_recall_fork fork = { .key = key };
	struct tpc_recall_shortcut *shortcut;

	if (at->key == key)
		fork = *at;
	if (!ask_all(recall, start, &fork))
		return;
	*at = fork;
	hash = tpc_recall_hash(&fork, start->sp);
	shortcut = &recall->shortcuts[hash >> (64 - TPC_RECALL_SHORTCUT_BITS)];
	shortcut->ways[1] = shortcut->ways[0];
	shortcut->ways[0] = (hash & UINT64_C(0xffffffff00000000)) | to;
}

/* Makes a shortcut for one way in eight, because some can't have one, and others are used only once. */
const struct tpc_recall_leaf *tpc_recall_find_long(struct tpc_recall *recall, uintptr_t pc, uintptr_t sp, uintptr_t bp,
						   uintptr_t high, uint32_t wrong)
{
	struct tpc_start start = { pc, sp, bp, high };
	uint32_t to;
	const struct tpc_recall_leaf *leaf = descend(recall, &start, &to);

	if (!leaf || to == wrong || !tpc_recall_is(recall, leaf, &start))
		return NULL;
	recall->last = to;
	if (++recall->descents % 8 == 0)
		shorten(recall, &start, to);
	return leaf;
}

size_t tpc_recall_last(const struct tpc_recall *recall, uintptr_t *pcs, size_t max)
{
	const struct tpc_recall_leaf *leaf = tpc_recall_leaf_at(recall, recall->last);
	struct tpc_leaf_cursor cursor = tpc_leaf_begin(recall, leaf);
	struct tpc_word word;
	size_t count = 0;

	if (max)
		pcs[0] = leaf->pc;
	while (tpc_leaf_next_return(&cursor, &word)) {
		if (++count < max)
			pcs[count] = word.value;
	}
	return count + 1;
}
