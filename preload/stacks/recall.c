/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/recall.h"

#define LEAF UINT32_C(0x80000000)
#define GROUP 4u /* return words that are compared before the next branch */

/*
 * In words[], a branch is one word: the slot's distance from the start's sp in bytes, above the leaf that stands for all
 * below it. A leaf is this header; its others, two words each; its return addresses, one word each, in whole groups; and
 * the distance of each one's slot from the slot before, in words, 16 bits each. A group is filled up with distances of 0
 * and the address before.
 */
struct leaf {
	uint64_t pc, sp, bp;
	uint32_t node;
	uint8_t flags, needs_bp;
	uint16_t others;
	uint16_t returns, groups;
	uint32_t extent; /* bytes from sp to behind the outermost slot */
	uint64_t words[];
};

#define LEAF_WORDS (sizeof(struct leaf) / sizeof(uint64_t))

static const uint64_t *returns_of(const struct leaf *leaf)
{
	return leaf->words + 2 * leaf->others;
}

static const uint16_t *distances_of(const struct leaf *leaf)
{
	return (const uint16_t *)(returns_of(leaf) + leaf->groups * GROUP);
}

static uint64_t load(uintptr_t slot)
{
	return *(const uintptr_t *)slot;
}

/* Words that a walk takes: header, others, returns in whole groups of a value and a quarter word. */
static uint32_t leaf_words(const struct tp_outcome *outcome)
{
	uint32_t groups = (uint32_t)(outcome->return_count + GROUP - 1) / GROUP;

	return (uint32_t)(LEAF_WORDS + 2 * outcome->other_count) + groups * (GROUP + 1);
}

static struct leaf *leaf_at(const struct tp_recall *recall, uint32_t to)
{
	return (struct leaf *)(uintptr_t)&recall->words[to & ~LEAF];
}

/* ---- edges: (start) or (branch, value) -> branch or leaf ---- */

/* Multiplicative hashing (Knuth, TAOCP 6.4). Two keys that meet cost a failed check, no more. */
static uint64_t start_key(const struct tp_start *start)
{
	return (start->pc ^ start->sp << 17) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static uint64_t value_key(uint32_t branch, uint64_t value)
{
	return (value ^ (uint64_t)branch << 47) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static struct tp_recall_edge *edge_of(struct tp_recall *recall, uint64_t key)
{
	for (uint64_t i = key >> 40;; i++) {
		struct tp_recall_edge *edge = &recall->edges[i % TP_RECALL_EDGES];

		if (edge->key == key || !edge->key)
			return edge;
	}
}

static void set_edge(struct tp_recall *recall, uint64_t key, uint32_t to)
{
	struct tp_recall_edge *edge = edge_of(recall, key);

	recall->edge_count += !edge->key;
	edge->key = key;
	edge->to = to;
}

static uint32_t branch_distance(const struct tp_recall *recall, uint32_t branch)
{
	return (uint32_t)(recall->words[branch] >> 32);
}

/* ---- look-up ---- */

/* Down the branches. *to: the leaf arrived at, or the one that stands for where there was no way on. */
static bool descend(struct tp_recall *recall, const struct tp_start *start, uint32_t *to)
{
	const struct tp_recall_edge *edge = edge_of(recall, start_key(start));

	*to = 0;
	while (edge->key) {
		uint32_t distance;

		if (edge->to & LEAF) {
			*to = edge->to;
			return true;
		}
		*to = (uint32_t)recall->words[edge->to];
		distance = branch_distance(recall, edge->to);
		if (start->sp + distance + sizeof(uintptr_t) > start->high)
			return false;
		edge = edge_of(recall, value_key(edge->to, load(start->sp + distance)));
	}
	return false;
}

static bool same_start(const struct leaf *leaf, const struct tp_start *start)
{
	return leaf->pc == start->pc && leaf->sp == start->sp && start->sp + leaf->extent <= start->high;
}

/* Six instructions a return address: the differences of a group are gathered, and looked at once. */
static inline bool returns_same(const struct leaf *leaf)
{
	const uint64_t *value = returns_of(leaf), *end = value + leaf->groups * GROUP;
	const uint16_t *distance = distances_of(leaf);
	const uint64_t *slot = (const uint64_t *)leaf->sp - 1;

	for (; value < end; value += GROUP, distance += GROUP) {
		uint64_t difference;

		slot += distance[0];
		difference = *slot ^ value[0];
		slot += distance[1];
		difference |= *slot ^ value[1];
		slot += distance[2];
		difference |= *slot ^ value[2];
		slot += distance[3];
		difference |= *slot ^ value[3];
		if (tp_unlikely(difference))
			return false;
	}
	return true;
}

/* The first return address that is another now; NULL if none is. *slot is where it stands. */
static const uint64_t *first_difference(const struct leaf *leaf, uintptr_t *slot)
{
	const uint64_t *values = returns_of(leaf);
	const uint16_t *distances = distances_of(leaf);

	*slot = leaf->sp - sizeof(uintptr_t);
	for (uint32_t i = 0; i < leaf->returns; i++) {
		*slot += distances[i] * sizeof(uintptr_t);
		if (load(*slot) != values[i])
			return &values[i];
	}
	return NULL;
}

static bool others_same(const struct leaf *leaf)
{
	const uint64_t *word = leaf->words;

	for (uint32_t i = 0; i < leaf->others; i++, word += 2) {
		if (load(word[0]) != word[1])
			return false;
	}
	return true;
}

struct tp_recalled tp_recall_find(struct tp_recall *recall, const struct tp_start *start)
{
	const struct leaf *leaf;
	uint32_t to;

	if (!descend(recall, start, &to))
		return (struct tp_recalled){ 0, 0 };
	leaf = leaf_at(recall, to);
	if (!same_start(leaf, start) || (leaf->needs_bp && leaf->bp != start->bp) || !returns_same(leaf) ||
	    !others_same(leaf))
		return (struct tp_recalled){ 0, 0 };
	recall->last = to;
	return (struct tp_recalled){ leaf->node, leaf->flags };
}

/* ---- adding ---- */

void tp_recall_clear(struct tp_recall *recall)
{
	memset(recall->edges, 0, sizeof(recall->edges));
	recall->edge_count = 0;
	recall->used = 1; /* 0 is nowhere */
}

/* The returns and their slots' distances, from `before`, one word below the start's sp. False: one is too far off. */
static bool write_returns(struct leaf *leaf, const struct tp_outcome *outcome, uintptr_t before)
{
	uint64_t *value = (uint64_t *)(uintptr_t)returns_of(leaf);
	uint16_t *distance = (uint16_t *)(uintptr_t)distances_of(leaf);

	for (size_t i = 0; i < leaf->groups * GROUP; i++) {
		const struct tp_word *word = &outcome->returns[i < leaf->returns ? i : leaf->returns - 1u];
		uint64_t words = (word->slot - before) / sizeof(uintptr_t);

		if (words > UINT16_MAX)
			return false;
		before = word->slot;
		value[i] = word->value;
		distance[i] = (uint16_t)words;
	}
	return true;
}

/* Packs a walk into words[]. 0: it has no short form. */
static uint32_t write_leaf(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome)
{
	uint32_t at = recall->used;
	struct leaf *leaf = leaf_at(recall, at);
	uint32_t groups = (uint32_t)(outcome->return_count + GROUP - 1) / GROUP;
	uintptr_t top = outcome->return_count ? outcome->returns[outcome->return_count - 1].slot : start->sp;

	*leaf = (struct leaf){
		.pc = start->pc,
		.sp = start->sp,
		.bp = start->bp,
		.node = outcome->result.node,
		.flags = (uint8_t)outcome->result.flags,
		.needs_bp = outcome->needs_bp,
		.others = (uint16_t)outcome->other_count,
		.returns = (uint16_t)outcome->return_count,
		.groups = (uint16_t)groups,
		.extent = (uint32_t)(top + sizeof(uintptr_t) - start->sp),
	};
	memcpy(leaf->words, outcome->others, outcome->other_count * sizeof(outcome->others[0]));
	if (!write_returns(leaf, outcome, start->sp - sizeof(uintptr_t)))
		return 0;
	recall->used = at + leaf_words(outcome);
	return at | LEAF;
}

/* The key of the edge that leads to the first branch at or beyond `distance`, or to a leaf. */
static uint64_t edge_above(struct tp_recall *recall, const struct tp_start *start, uint32_t distance)
{
	uint64_t key = start_key(start);

	for (;;) {
		const struct tp_recall_edge *edge = edge_of(recall, key);

		if (!edge->key || edge->to & LEAF || branch_distance(recall, edge->to) >= distance)
			return key;
		key = value_key(edge->to, load(start->sp + branch_distance(recall, edge->to)));
	}
}

/* `other`, a known stack of the same start, parts from this one at `slot`, where it has the value `theirs`. */
static void add_beside(struct tp_recall *recall, const struct tp_start *start, uint32_t other, uintptr_t slot,
		       uint64_t theirs, uint32_t leaf)
{
	uint32_t distance = (uint32_t)(slot - start->sp), branch;
	struct tp_recall_edge *above = edge_of(recall, edge_above(recall, start, distance));
	uint32_t below = above->to;

	if (!above->key)
		return; /* two keys met: not worth more */
	if (!(below & LEAF) && branch_distance(recall, below) == distance) {
		branch = below;
	} else {
		branch = recall->used++;
		recall->words[branch] = (uint64_t)distance << 32 | other;
		above->to = branch;
		set_edge(recall, value_key(branch, theirs), below);
	}
	set_edge(recall, value_key(branch, load(slot)), leaf);
}

void tp_recall_add(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome)
{
	size_t words = leaf_words(outcome) + 1u; /* and a branch */
	const uint64_t *difference = NULL;
	uint32_t other, leaf;
	uintptr_t slot = 0;

	if (words > TP_RECALL_WORDS / 8)
		return;
	if (recall->used + words > TP_RECALL_WORDS || recall->edge_count >= TP_RECALL_EDGES / 4 * 3)
		tp_recall_clear(recall);
	descend(recall, start, &other);
	if (other) {
		if (!same_start(leaf_at(recall, other), start))
			return;
		difference = first_difference(leaf_at(recall, other), &slot);
		if (!difference)
			return; /* they differ in an rbp only: rare enough to be walked */
	}
	leaf = write_leaf(recall, start, outcome);
	if (!leaf)
		return;
	if (difference)
		add_beside(recall, start, other, slot, *difference, leaf);
	else
		set_edge(recall, start_key(start), leaf);
}

size_t tp_recall_last(const struct tp_recall *recall, uintptr_t *pcs, size_t max)
{
	const struct leaf *leaf = leaf_at(recall, recall->last);

	for (size_t i = 0; i <= leaf->returns && i < max; i++)
		pcs[i] = i ? returns_of(leaf)[i - 1] : leaf->pc;
	return leaf->returns + 1u;
}
