/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/leaves.h"

#include "core/assert.h"
#include "stacks/frames.h"

#define LEAF TPC_RECALL_LEAF
#define GROUP TPC_RECALL_GROUP
#define PIECE TPC_RECALL_PIECE
#define WORD sizeof(uint64_t)
#define LINE TPC_RECALL_LINE
#define FAR TPC_RECALL_FAR
#define PIECE_HEAD offsetof(struct tpc_recall_piece, group)

/* The code that calls hooked functions from frames that contain a stamp; bytes 0: no call holds anything. */
static struct {
	uintptr_t at;
	tpc_shared_address bytes;
} held_by;
static bool holds_nothing;

void tpc_leaf_hold(uintptr_t code, size_t bytes)
{
	held_by.at = code;
	if (!holds_nothing)
		tpc_store_release(&held_by.bytes, bytes); /* pairs with outermost_call(): held_by.at is set */
}

void tpc_leaf_hold_nothing(void)
{
	holds_nothing = true;
	tpc_store(&held_by.bytes, (uintptr_t)0);
}

/* Of a leaf with that many pieces: their places, and a 0. */
static size_t leaf_bytes(uint32_t pieces)
{
	return offsetof(struct tpc_recall_leaf, pieces) + (pieces + 1 + !pieces) * sizeof(uint16_t);
}

static uint32_t pieces_of(const struct tpc_outcome *outcome)
{
	return (uint32_t)((outcome->return_count + outcome->other_count + PIECE - 1) / PIECE);
}

size_t tpc_leaf_most(const struct tpc_outcome *outcome)
{
	uint32_t pieces = pieces_of(outcome);

	return (pieces * sizeof(struct tpc_recall_piece) + leaf_bytes(pieces)) / WORD + LINE;
}

/* Allocates that many bytes; returns the cache line. */
static uint16_t take(struct tpc_recall *recall, size_t bytes)
{
	uint32_t line = recall->used / LINE;

	recall->used += (uint32_t)(tpc_round_up(bytes, LINE * WORD) / WORD);
	tpc_assert(recall->used + recall->branches <= TPC_RECALL_WORDS);
	return (uint16_t)line;
}

/* ---- writing ---- */

/* The remaining words of a walk, which are taken from the outer end. Both lists ascend. */
struct rest {
	const struct tpc_outcome *outcome;
	size_t returns, others;
};

/* Takes the outermost word. True: it is not a return address. */
static bool take_outermost(struct rest *rest, struct tpc_word *word)
{
	const struct tpc_word *other = rest->others ? &rest->outcome->others[rest->others - 1] : NULL;
	const struct tpc_word *back = rest->returns ? &rest->outcome->returns[rest->returns - 1] : NULL;
	bool is_other = other && (!back || other->slot > back->slot);

	*word = is_other ? *other : *back;
	if (is_other)
		rest->others--;
	else
		rest->returns--;
	return is_other;
}

/* Takes the `count` outermost words, ascending. Returns a bit for each that is not a return address. */
static uint32_t take_words(struct rest *rest, struct tpc_word *words, uint32_t count)
{
	uint32_t others = 0;

	while (count-- > 0)
		others |= (uint32_t)take_outermost(rest, &words[count]) << count;
	return others;
}

/* Packs words into groups. False: two slots are too far apart. */
static bool write_groups(struct tpc_recall_group *groups, const struct tpc_word *words, uint32_t count)
{
	uintptr_t base = words[0].slot;

	for (uint32_t i = 0; i < tpc_round_up(count, GROUP); i++) {
		const struct tpc_word *first = &words[i / GROUP * GROUP], *word = i < count ? &words[i] : first;
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

static uint32_t groups_of(uint32_t words)
{
	return (words + GROUP - 1) / GROUP;
}

/* Head included. */
static size_t piece_bytes(uint32_t words)
{
	return PIECE_HEAD + groups_of(words) * sizeof(struct tpc_recall_group);
}

static uint64_t piece_hash(const struct tpc_recall_piece *piece)
{
	const word_of_piece *words = (const word_of_piece *)piece;
	uint64_t hash = 0;

	for (size_t i = 0; i < piece_bytes(piece->words) / WORD; i++)
		hash = ((hash << 5 | hash >> 59) ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash;
}

static bool is_same(const struct tpc_recall_piece *a, const struct tpc_recall_piece *b)
{
	const word_of_piece *as = (const word_of_piece *)a, *bs = (const word_of_piece *)b;

	if (a->words != b->words)
		return false;
	for (size_t i = 0; i < piece_bytes(a->words) / WORD; i++) {
		if (as[i] != bs[i])
			return false;
	}
	return true;
}

/* The place of an equal piece: an existing one, or a new one. A piece that was not asked for lately may exist twice. */
static uint16_t share(struct tpc_recall *recall, const struct tpc_recall_piece *piece)
{
	uint16_t *known = recall->shared[piece_hash(piece) >> (64 - TPC_RECALL_SHARED_BITS)], place = known[1];

	if (known[0] && is_same(tpc_recall_piece_at(recall, known[0]), piece))
		return known[0];
	if (!place || !is_same(tpc_recall_piece_at(recall, place), piece)) {
		place = take(recall, piece_bytes(piece->words));
		memcpy(recall->words + (size_t)place * LINE, piece, piece_bytes(piece->words));
	}
	known[1] = known[0];
	known[0] = place;
	return place;
}

/* Packs the outermost remaining words into a piece. Returns its place; 0: it has no short form. */
static uint16_t write_piece(struct tpc_recall *recall, struct rest *rest, uint32_t count)
{
	struct tpc_recall_piece piece = { .words = count };
	struct tpc_word words[PIECE] = { 0 };

	piece.others = take_words(rest, words, count);
	piece.base = words[0].slot;
	return write_groups(piece.group, words, count) ? share(recall, &piece) : 0;
}

/* If the outermost remaining words equal a full piece, takes them. */
static bool take_same(struct rest *rest, const struct tpc_recall_piece *piece)
{
	uintptr_t base = piece->base;
	struct rest left = *rest;
	struct tpc_word word;

	for (uint32_t group = 1; group < PIECE / GROUP; group++)
		base += piece->group[group].steps[0] * WORD;
	for (uint32_t i = PIECE; i-- > 0;) {
		const struct tpc_recall_group *group = &piece->group[i / GROUP];
		bool other = take_outermost(&left, &word);

		if (word.value != group->values[i % GROUP] || other != (piece->others >> i & 1) ||
		    word.slot != base + (i % GROUP ? group->steps[i % GROUP] * WORD : 0))
			return false;
		if (i % GROUP == 0)
			base -= group->steps[0] * WORD;
	}
	*rest = left;
	return true;
}

/*
 * Finds the outer pieces that this walk, with `pieces` of them, shares with the leaf written last: mostly all but one
 * or two. Comparing them costs less than writing them and finding that they exist. Returns how many are left to write.
 */
static uint32_t take_common(const struct tpc_recall *recall, struct rest *rest, uint16_t *places, uint32_t pieces)
{
	uint32_t count = recall->written_pieces;
	const uint16_t *last;

	if (!recall->written)
		return pieces;
	last = tpc_recall_leaf_at(recall, recall->written)->pieces;
	while (pieces > 1 && count > 1 && take_same(rest, tpc_recall_piece_at(recall, last[count - 1])))
		places[--pieces] = last[--count];
	return pieces;
}

static uintptr_t top_of(const struct tpc_outcome *outcome, uintptr_t sp)
{
	struct rest rest = { outcome, outcome->return_count, outcome->other_count };
	struct tpc_word word = { sp - WORD, 0 };

	if (rest.returns + rest.others)
		take_outermost(&rest, &word);
	return word.slot + WORD;
}

/*
 * The fp of the outermost hooked call that has not called back into Python; the return address of its caller follows
 * the word that fp points to. UINTPTR_MAX: none.
 */
static uintptr_t outermost_call(const struct tpc_start *start, const struct tpc_outcome *outcome)
{
	const struct tpc_word *returns = outcome->returns;
	uintptr_t pc = start->pc, bp = UINTPTR_MAX;
	size_t bytes = tpc_load_acquire(&held_by.bytes); /* pairs with tpc_leaf_hold() */

	for (size_t i = 0; bytes && i < outcome->return_count && !tpc_frame_in_loop(pc - 1); i++) {
		if (pc - held_by.at < bytes)
			bp = returns[i].slot - WORD;
		pc = returns[i].value;
	}
	return bp;
}

/* The number of the outer end that begins with that piece; 0: no numbers are left. No two ends share a number. */
static uint16_t number_end(struct tpc_recall *recall, uint16_t piece, uint16_t outer)
{
	uint32_t hash = ((uint32_t)piece << 16 | outer) * UINT32_C(0x9e3779b9);
	struct tpc_recall_end *end = &recall->ends[hash >> (32 - TPC_RECALL_ENDS_BITS)];

	if (end->number && end->piece == piece && end->outer == outer)
		return end->number;
	if (recall->end_count == UINT16_MAX)
		return 0;
	*end = (struct tpc_recall_end){ piece, outer, (uint16_t)++recall->end_count };
	return end->number;
}

/* Notes what is outside of the hooked call at `bp`, unless that is too far out. */
static void hold(struct tpc_recall *recall, struct tpc_recall_leaf *leaf, uint32_t pieces, uintptr_t bp)
{
	uint32_t first = pieces;
	uint16_t held = 0;

	while (first > 1 && tpc_recall_piece_at(recall, leaf->pieces[first - 1])->base >= bp) {
		held = number_end(recall, leaf->pieces[--first], held);
		if (!held)
			return;
	}
	if (first > UINT8_MAX)
		return;
	leaf->stamp = (uint32_t)(bp - TPC_RECALL_STAMP - leaf->sp);
	leaf->first = (uint8_t)first;
	leaf->held = held;
}

uint32_t tpc_leaf_write(struct tpc_recall *recall, const struct tpc_start *start, const struct tpc_outcome *outcome)
{
	struct rest rest = { outcome, outcome->return_count, outcome->other_count };
	uint32_t pieces = pieces_of(outcome), own = (uint32_t)(rest.returns + rest.others);
	uint32_t to = take(recall, leaf_bytes(pieces)) * (uint32_t)(LINE * WORD) | LEAF;
	struct tpc_recall_leaf *leaf = tpc_recall_leaf_at(recall, to);

	own -= pieces ? (pieces - 1) * PIECE : 0;
	*leaf = (struct tpc_recall_leaf){
		.pc = start->pc,
		.sp = start->sp,
		.bp = start->bp,
		.bp_matters = outcome->needs_bp ? -1 : 0,
		.top = (uint32_t)(top_of(outcome, start->sp) - start->sp),
		.result = outcome->result,
		.groups = (uint8_t)groups_of(own),
	};
	leaf->pieces[pieces] = leaf->pieces[pieces + !pieces] = 0;
	for (uint32_t i = take_common(recall, &rest, leaf->pieces, pieces); i-- > 0;) {
		leaf->pieces[i] = write_piece(recall, &rest, i ? PIECE : own);
		if (!leaf->pieces[i])
			return 0;
	}
	recall->written = to;
	recall->written_pieces = pieces;
	hold(recall, leaf, pieces, outermost_call(start, outcome));
	return to;
}

/* ---- reading ---- */

struct tpc_leaf_cursor tpc_leaf_begin(const struct tpc_recall *recall, const struct tpc_recall_leaf *leaf)
{
	return (struct tpc_leaf_cursor){ .recall = recall, .further = leaf->pieces };
}

/* Goes to the next piece. False: there is none. */
static bool go_outwards(struct tpc_leaf_cursor *cursor)
{
	if (!*cursor->further)
		return false;
	cursor->piece = tpc_recall_piece_at(cursor->recall, *cursor->further++);
	cursor->base = (const uint64_t *)cursor->piece->base;
	cursor->at = 0;
	return true;
}

bool tpc_leaf_next_return(struct tpc_leaf_cursor *cursor, struct tpc_word *word)
{
	while ((cursor->piece && cursor->at < cursor->piece->words) || go_outwards(cursor)) {
		uint32_t at = cursor->at++, i = at % GROUP;
		const struct tpc_recall_group *group = &cursor->piece->group[at / GROUP];

		if (i == 0)
			cursor->base += group->steps[0];
		if (cursor->piece->others >> at & 1)
			continue;
		*word = (struct tpc_word){ (uintptr_t)(cursor->base + (i ? group->steps[i] : 0)), group->values[i] };
		return true;
	}
	return false;
}
