/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/recall.h"

#define LEAF UINT32_C(0x80000000)
#define SLOT_SHIFT 48 /* a return word: distance from the slot before, in words, above the value's 48 bits */
#define VALUE_MASK ((UINT64_C(1) << SLOT_SHIFT) - 1)
#define DISTANCE_MAX 0xffffu

/*
 * In words[], a branch is one word: the slot's distance from the start's sp in bytes, above the leaf that stands for all
 * below it. A leaf is this header, then its returns, one word each, then its others, two words each.
 */
struct leaf {
	uint64_t pc, sp, bp;
	uint32_t node;
	uint8_t flags, needs_bp;
	uint16_t others;
	uint32_t returns;
	uint32_t extent; /* bytes from sp to behind the outermost slot */
	uint64_t words[];
};

#define LEAF_WORDS (sizeof(struct leaf) / sizeof(uint64_t))

static uint64_t load(uintptr_t slot)
{
	return *(const uintptr_t *)slot;
}

static struct leaf *leaf_at(const struct tp_recall *recall, uint32_t to)
{
	return (struct leaf *)(uintptr_t)&recall->words[to & ~LEAF];
}

/* ---- edges: (start) or (branch, value) -> branch or leaf ---- */

/* splitmix64's finisher (Steele, Lea, Flood 2014). Two keys that meet cost a failed check, no more. */
static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

static uint64_t start_key(const struct tp_start *start)
{
	return mix(start->pc ^ start->sp << 20) | 1;
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

/* The first return slot whose word is another now; NULL if none is. *slot is its address. */
static const uint64_t *first_difference(const struct leaf *leaf, uintptr_t *slot)
{
	const uint64_t *word = leaf->words, *end = word + leaf->returns;

	*slot = leaf->sp - sizeof(uintptr_t);
	for (; word < end; word++) {
		*slot += *word >> SLOT_SHIFT << 3;
		if (tp_unlikely(load(*slot) != (*word & VALUE_MASK)))
			return word;
	}
	return NULL;
}

static bool others_same(const struct leaf *leaf)
{
	const uint64_t *word = leaf->words + leaf->returns;

	for (uint32_t i = 0; i < leaf->others; i++, word += 2) {
		if (load(word[0]) != word[1])
			return false;
	}
	return true;
}

struct tp_recalled tp_recall_find(struct tp_recall *recall, const struct tp_start *start)
{
	const struct leaf *leaf;
	uintptr_t slot;
	uint32_t to;

	if (!descend(recall, start, &to))
		return (struct tp_recalled){ 0, 0 };
	leaf = leaf_at(recall, to);
	if (!same_start(leaf, start) || (leaf->needs_bp && leaf->bp != start->bp) || first_difference(leaf, &slot) ||
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

/* Packs a walk into words[]. 0: it has no short form. */
static uint32_t write_leaf(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome)
{
	uint32_t at = recall->used;
	struct leaf *leaf = leaf_at(recall, at);
	uintptr_t before = start->sp - sizeof(uintptr_t);
	uint64_t *word = leaf->words;

	for (size_t i = 0; i < outcome->return_count; i++) {
		uint64_t distance = (outcome->returns[i].slot - before) / sizeof(uintptr_t);

		before = outcome->returns[i].slot;
		if (distance > DISTANCE_MAX || outcome->returns[i].value > VALUE_MASK)
			return 0;
		*word++ = distance << SLOT_SHIFT | outcome->returns[i].value;
	}
	for (size_t i = 0; i < outcome->other_count; i++) {
		*word++ = outcome->others[i].slot;
		*word++ = outcome->others[i].value;
	}
	*leaf = (struct leaf){
		.pc = start->pc,
		.sp = start->sp,
		.bp = start->bp,
		.node = outcome->result.node,
		.flags = (uint8_t)outcome->result.flags,
		.needs_bp = outcome->needs_bp,
		.returns = (uint32_t)outcome->return_count,
		.others = (uint16_t)outcome->other_count,
		.extent = (uint32_t)(before + sizeof(uintptr_t) - start->sp),
	};
	recall->used = (uint32_t)(word - recall->words);
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
	size_t words = LEAF_WORDS + outcome->return_count + 2 * outcome->other_count + 1;
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
		add_beside(recall, start, other, slot, *difference & VALUE_MASK, leaf);
	else
		set_edge(recall, start_key(start), leaf);
}

size_t tp_recall_last(const struct tp_recall *recall, uintptr_t *pcs, size_t max)
{
	const struct leaf *leaf = leaf_at(recall, recall->last);

	for (size_t i = 0; i <= leaf->returns && i < max; i++)
		pcs[i] = i ? leaf->words[i - 1] & VALUE_MASK : leaf->pc;
	return leaf->returns + 1;
}
