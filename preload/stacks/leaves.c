/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/leaves.h"

#include "stacks/edges.h"

#define LEAF TP_RECALL_LEAF
#define GROUP TP_RECALL_GROUP
#define PIECE TP_RECALL_PIECE
#define WORD sizeof(uint64_t)
#define LINE TP_RECALL_LINE
#define FAR TP_RECALL_FAR

static struct tp_recall_piece *piece_at(struct tp_recall *recall, uint32_t to)
{
	return (struct tp_recall_piece *)((uintptr_t)recall->words + to);
}

/* Of a leaf: the list of its pieces has as many places, one for the 0. */
static size_t bytes_of(uint32_t groups, uint32_t pieces)
{
	return sizeof(struct tp_recall_leaf) + groups * sizeof(struct tp_recall_group) + pieces * sizeof(uint32_t);
}

size_t tp_leaf_most(const struct tp_outcome *outcome)
{
	size_t pieces = (outcome->return_count + outcome->other_count) / PIECE;

	return (pieces * sizeof(struct tp_recall_piece) + bytes_of(PIECE / GROUP, (uint32_t)pieces)) / WORD + LINE;
}

/* The place of so many bytes, at a cache line. */
static uint32_t take(struct tp_recall *recall, size_t bytes)
{
	uint32_t to = recall->used * (uint32_t)WORD;

	recall->used += (uint32_t)(tp_round_up(bytes, LINE * WORD) / WORD);
	return to;
}

/* ---- writing ---- */

/* What is left of a walk's words, which are taken from the outer end. Both lists ascend. */
struct rest {
	const struct tp_outcome *outcome;
	size_t returns, others;
};

/* The outermost of them. True: it is no return address. */
static bool take_outermost(struct rest *rest, struct tp_word *word)
{
	const struct tp_word *other = rest->others ? &rest->outcome->others[rest->others - 1] : NULL;
	const struct tp_word *back = rest->returns ? &rest->outcome->returns[rest->returns - 1] : NULL;
	bool is_other = other && (!back || other->slot > back->slot);

	*word = is_other ? *other : *back;
	if (is_other)
		rest->others--;
	else
		rest->returns--;
	return is_other;
}

/* The `count` outermost, ascending. Returns a bit for each that is no return address. */
static uint32_t take_words(struct rest *rest, struct tp_word *words, uint32_t count)
{
	uint32_t others = 0;

	while (count-- > 0)
		others |= (uint32_t)take_outermost(rest, &words[count]) << count;
	return others;
}

/* Into groups; `base`: what the first one counts from. False: two slots lie too far from each other. */
static bool write_groups(struct tp_recall_group *groups, const struct tp_word *words, uint32_t count, uintptr_t base)
{
	for (uint32_t i = 0; i < tp_round_up(count, GROUP); i++) {
		const struct tp_word *first = &words[i / GROUP * GROUP], *word = i < count ? &words[i] : first;
		uintptr_t step = word->slot - (i % GROUP ? first->slot : base);

		if (step > FAR)
			return false;
		groups[i / GROUP].values[i % GROUP] = word->value;
		groups[i / GROUP].steps[i % GROUP] = (uint16_t)(step / WORD);
		if (i % GROUP == 0)
			base = first->slot;
	}
	return true;
}

typedef uint64_t __attribute__((may_alias)) word_of_piece;

#define PIECE_WORDS ((offsetof(struct tp_recall_piece, group) + sizeof(((struct tp_recall_piece *)0)->group)) / WORD)

/* Even: starts and values have odd keys. */
static uint64_t piece_key(const struct tp_recall_piece *piece)
{
	const word_of_piece *words = (const word_of_piece *)piece;
	uint64_t key = 0;

	for (size_t i = 0; i < PIECE_WORDS; i++)
		key = ((key << 5 | key >> 59) ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (key & ~UINT64_C(1)) | 2;
}

static bool is_same(const struct tp_recall_piece *a, const struct tp_recall_piece *b)
{
	const word_of_piece *left = (const word_of_piece *)a, *right = (const word_of_piece *)b;
	uint64_t difference = 0;

	for (size_t i = 0; i < PIECE_WORDS; i++)
		difference |= left[i] ^ right[i];
	return !difference;
}

/* The place of a piece like it: the one that there is, or a new one. */
static uint32_t share(struct tp_recall *recall, const struct tp_recall_piece *piece)
{
	uint64_t key = piece_key(piece);
	const struct tp_recall_edge *edge = tp_edge_of(recall, key);
	uint32_t to;

	if (edge->key && is_same(piece_at(recall, edge->to), piece))
		return edge->to;
	to = take(recall, sizeof(*piece));
	*piece_at(recall, to) = *piece;
	if (!edge->key && recall->edge_count < tp_edges_of(recall) / 8 * 7) /* the leaf's and the branch's still fit */
		tp_edge_set(recall, key, to, 0);
	return to;
}

/* The next outermost words, as a piece. Its place; 0: it has no short form. */
static uint32_t write_piece(struct tp_recall *recall, struct rest *rest)
{
	struct tp_recall_piece piece = { .base = 0 };
	struct tp_word words[PIECE];

	piece.others = take_words(rest, words, PIECE);
	piece.base = words[0].slot;
	return write_groups(piece.group, words, PIECE, piece.base) ? share(recall, &piece) : 0;
}

static uintptr_t top_of(const struct tp_outcome *outcome, uintptr_t sp)
{
	struct rest rest = { outcome, outcome->return_count, outcome->other_count };
	struct tp_word word = { sp - WORD, 0 };

	if (rest.returns + rest.others)
		take_outermost(&rest, &word);
	return word.slot + WORD;
}

uint32_t tp_leaf_write(struct tp_recall *recall, const struct tp_start *start, const struct tp_outcome *outcome)
{
	struct rest rest = { outcome, outcome->return_count, outcome->other_count };
	uint32_t words = (uint32_t)(rest.returns + rest.others), own = words % PIECE, pieces = words / PIECE;
	uint32_t groups = (own + GROUP - 1) / GROUP, to = take(recall, bytes_of(groups, pieces)) | LEAF, *further;
	struct tp_recall_leaf *leaf = tp_leaf_at(recall, to);
	struct tp_word innermost[PIECE];

	*leaf = (struct tp_recall_leaf){
		.pc = start->pc,
		.sp = start->sp,
		.bp = start->bp,
		.bp_matters = outcome->needs_bp ? UINTPTR_MAX : 0,
		.top = top_of(outcome, start->sp),
		.result = outcome->result,
		.groups = (uint8_t)groups,
		.words = (uint8_t)own,
	};
	further = (uint32_t *)(uintptr_t)tp_recall_further(leaf);
	for (uint32_t i = pieces, next = 0; i-- > 0; next = leaf->outer) {
		further[i] = next;
		leaf->outer = write_piece(recall, &rest);
		if (!leaf->outer)
			return 0;
	}
	leaf->others = (uint16_t)take_words(&rest, innermost, own);
	return write_groups(leaf->group, innermost, own, start->sp) ? to : 0;
}

/* ---- reading ---- */

struct tp_leaf_cursor tp_leaf_begin(const struct tp_recall *recall, const struct tp_recall_leaf *leaf)
{
	return (struct tp_leaf_cursor){ .recall = recall,
					.group = leaf->group,
					.base = (const uint64_t *)leaf->sp,
					.words = leaf->words,
					.others = leaf->others,
					.outer = leaf->outer,
					.further = tp_recall_further(leaf) };
}

/* On to the next piece. False: there is none. */
static bool go_outwards(struct tp_leaf_cursor *cursor)
{
	const struct tp_recall_piece *piece = tp_recall_piece_at(cursor->recall, cursor->outer);

	if (!cursor->outer)
		return false;
	*cursor = (struct tp_leaf_cursor){ .recall = cursor->recall,
					   .group = piece->group,
					   .base = (const uint64_t *)piece->base,
					   .words = PIECE,
					   .others = (uint32_t)piece->others,
					   .outer = *cursor->further,
					   .further = cursor->further + 1 };
	return true;
}

bool tp_leaf_next_return(struct tp_leaf_cursor *cursor, struct tp_word *word)
{
	while (cursor->at < cursor->words || go_outwards(cursor)) {
		uint32_t at = cursor->at++, i = at % GROUP;
		const struct tp_recall_group *group = &cursor->group[at / GROUP];

		if (i == 0)
			cursor->base += group->steps[0];
		if (cursor->others >> at & 1)
			continue;
		*word = (struct tp_word){ (uintptr_t)(cursor->base + (i ? group->steps[i] : 0)), group->values[i] };
		return true;
	}
	return false;
}
