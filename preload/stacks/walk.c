/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/walk.h"

#include "core/config.h"
#include "core/stackrange.h"
#include "core/state.h"
#include "stacks/frames.h"
#include "stacks/modules.h"
#include "stacks/nodes.h"
#include "stacks/recall.h"

#include <tprof/format.h>

#define WALK_MAX 1800u
#define NONE UINT32_MAX
#define INTERRUPTED (UINT64_C(1) << 63) /* in a place's PC: not a return address, so no walk may join here */

struct place { /* verified against memory: *(sp - 8) is pc, for all but the innermost */
	uintptr_t sp, pc;
};

struct detail {
	uintptr_t bp;
	uint32_t number; /* of the frame, in the trace */
	uint32_t node;
	uint32_t checks; /* total of the steps from this frame outwards */
	bool needs_bp;	 /* the walk from here outwards depends on bp */
};

/* Outermost frame first, so that common frames keep their places. */
struct walk {
	union {
		struct tpc_walk_front front;
		struct {
			uint32_t recall_epoch;
			uint32_t epoch; /* tpc_frames_epoch at the last walk */
			uint32_t count;
			uint32_t root;	   /* enum tprof_node: how the stack ended */
			uint32_t base;	   /* outermost frames beyond TPROF_DEPTH, left out of the nodes */
			uint32_t blind_at; /* index of the outermost frame whose way outwards is not kept; or NONE */
		};
	};
	struct place places[WALK_MAX];
	struct detail details[WALK_MAX];
	struct tpc_word checks[2 * WALK_MAX];
	struct tpc_frames_lately frames; /* of `epoch` */
	struct tpc_step fresh[WALK_MAX]; /* frames of this walk that the last one did not have, innermost first */
	uint32_t numbers[WALK_MAX];
	struct tpc_word returns[WALK_MAX];
	struct tpc_word others[2 * WALK_MAX];
};

_Static_assert(sizeof(struct walk) <= TPC_WALK_BYTES, "the walk fits its room in struct tpc_thread");

static struct walk *walk_of(struct tpc_thread *thread)
{
	return (struct walk *)thread->walk;
}

static uintptr_t load(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

/* ---- meeting the previous walk ---- */

/* One branch for four frames: a stack has fifty, and most are unchanged. */
static inline uintptr_t four_differ(const struct place *place)
{
	return (load(place[0].sp - 8) ^ place[0].pc) | (load(place[1].sp - 8) ^ place[1].pc) |
	       (load(place[2].sp - 8) ^ place[2].pc) | (load(place[3].sp - 8) ^ place[3].pc);
}

/* Is everything from frame `from` outwards unchanged? If not, *next is the frame from which on it may be (or -1). */
static bool verify(const struct walk *walk, int32_t from, int32_t *next)
{
	const struct place *first = walk->places, *place = &first[from];

	while (place >= first + 4 && tpc_likely(!four_differ(place - 4)))
		place -= 4;
	while (place-- > first) {
		if (tpc_unlikely(load(place->sp - 8) != place->pc)) {
			*next = (int32_t)(place - first) - 1;
			return false;
		}
	}
	for (uint32_t i = walk->details[from].checks; i-- > 0;) {
		if (tpc_unlikely(load(walk->checks[i].slot) != walk->checks[i].value)) {
			*next = -1;
			return false;
		}
	}
	return true;
}

/*
 * Does the walk, at `at`, join the previous one? *candidate is the innermost old frame that it has not passed yet.
 * Frames from a signal's frame inwards never join: the way outwards goes through the context, not a return address. Nor
 * do those from a frame inwards whose CFA depends on another register.
 */
static bool joins(const struct walk *walk, const struct tpc_registers *at, int32_t *candidate)
{
	int32_t i = *candidate;

	while (i >= 0 && walk->places[i].sp < at->sp)
		i--;
	*candidate = i;
	return i >= 0 && walk->places[i].sp == at->sp && walk->places[i].pc == at->pc && (uint32_t)i < walk->blind_at &&
	       (!walk->details[i].needs_bp || walk->details[i].bp == at->bp) && verify(walk, i, candidate);
}

/* `settled`: no dlclose is in progress. */
static inline struct tpc_frame find_frame(struct walk *walk, const struct tpc_stepper *stepper, bool settled)
{
	if (tpc_likely(settled && !stepper->exact))
		return tpc_frame_find_lately(&walk->frames, stepper->at.pc);
	return tpc_frame_find(stepper->at.pc, stepper->exact);
}

/*
 * Walks until the end or the previous walk; `context` as in struct tpc_stepper. Returns how many old frames stay; fills
 * walk->fresh and *count.
 */
static uint32_t collect(struct tpc_thread *thread, struct walk *walk, const struct tpc_start *start, uintptr_t context,
			uint32_t *count)
{
	struct tpc_stepper stepper = { .at = { start->pc, start->sp, start->bp },
				       .exact = context,
				       .readable = { start->sp, start->high },
				       .first = walk->fresh,
				       .context = context };
	bool settled = walk->epoch == tpc_load_acquire(&tpc_frames_epoch);
	int32_t candidate = (int32_t)walk->count - 1;

	for (*count = 0; *count < WALK_MAX;) {
		struct tpc_step *fresh;

		if (!stepper.exact && joins(walk, &stepper.at, &candidate)) {
			if ((uint32_t)candidate + 1 + *count > WALK_MAX)
				break;
			return (uint32_t)candidate + 1;
		}
		fresh = &walk->fresh[(*count)++];
		*fresh = (struct tpc_step){ .at = stepper.at, .frame = find_frame(walk, &stepper, settled) };
		if (!tpc_step_out(&stepper, fresh, thread)) {
			walk->root = stepper.root;
			return 0;
		}
	}
	walk->root = TPROF_NODE_CUT; /* deeper than the limit */
	return 0;
}

/* ---- keeping it for the next walk ---- */

static void add_check(struct walk *walk, uint32_t *checks, uintptr_t slot)
{
	walk->checks[(*checks)++] = (struct tpc_word){ slot, load(slot) };
}

static void push(struct walk *walk, const struct tpc_step *fresh, uint32_t *checks)
{
	uint32_t i = walk->count++;
	const struct tpc_rule *rule = &fresh->frame.rule;
	bool outer_needs = i > 0 && walk->details[i - 1].needs_bp;
	bool by_bp = fresh->by_bp || rule->kind == TPC_RULE_FP || rule->kind == TPC_RULE_FP_LOAD ||
		     rule->fp_kind == TPC_FP_AT_FP;

	if (fresh->cfa_slot)
		add_check(walk, checks, fresh->cfa_slot);
	if (fresh->refuted)
		add_check(walk, checks, fresh->refuted);
	if (fresh->bp_slot && outer_needs)
		add_check(walk, checks, fresh->bp_slot);
	if ((rule->kind == TPC_RULE_SIGNAL || rule->kind == TPC_RULE_OTHER) && walk->blind_at == NONE)
		walk->blind_at = i;
	walk->places[i] = (struct place){ fresh->at.sp, fresh->at.pc };
	walk->details[i] = (struct detail){
		.bp = fresh->at.bp,
		.number = fresh->frame.number,
		.checks = *checks,
		/* A frame that uses sp and leaves fp alone passes the caller's need on. */
		.needs_bp = by_bp || (!fresh->bp_slot && outer_needs),
	};
}

static void keep(struct walk *walk, uint32_t stays, uint32_t count)
{
	uint32_t checks = stays ? walk->details[stays - 1].checks : 0;

	walk->count = stays;
	if (walk->blind_at >= stays)
		walk->blind_at = NONE;
	while (count-- > 0)
		push(walk, &walk->fresh[count], &checks);
}

/* ---- nodes ---- */

/* How many outermost frames are left out. */
static uint32_t base_of(uint32_t count)
{
	uint32_t depth = tpc_load(&tpc_config.depth); /* core/ring.c may lower it */

	return count <= depth ? 0 : count - depth;
}

static void make_nodes(struct walk *walk, uint32_t parent, uint32_t from, const struct tpc_node_miss *miss)
{
	uint32_t count = walk->count - from, first;

	for (uint32_t i = 0; i < count; i++)
		walk->numbers[i] = walk->details[from + i].number;
	first = tpc_nodes_make(parent, walk->numbers, count, miss);
	for (uint32_t i = 0; i < count; i++)
		walk->details[from + i].node = first + i;
}

/* False: nodes had to be made. */
static bool intern(struct walk *walk, uint32_t from, uint32_t base)
{
	uint32_t parent = from > base ? walk->details[from - 1].node : base ? (uint32_t)TPROF_NODE_CUT : walk->root;

	for (uint32_t i = from; i < walk->count; i++) {
		struct tpc_node_miss miss;
		uint32_t node = tpc_node_find(parent, walk->details[i].number, &miss);

		if (!node) {
			make_nodes(walk, parent, i, &miss);
			return false;
		}
		walk->details[i].node = parent = node;
	}
	return true;
}

/* Renews the nodes of the frames that changed, and of all when the outer end did. False: some are new. */
static bool renew(struct walk *walk, uint32_t stays, uint32_t old_root)
{
	uint32_t base = base_of(walk->count);

	if (base != walk->base || walk->root != old_root || stays < base)
		stays = base;
	walk->base = base;
	return intern(walk, stays, base);
}

/* ---- incomplete stacks ---- */

enum { INCOMPLETE_CUT = 1, INCOMPLETE_SHORT = 2 };

static uint32_t incompleteness(const struct walk *walk)
{
	if (walk->base || walk->root == TPROF_NODE_CUT)
		return INCOMPLETE_CUT;
	return walk->root == TPROF_NODE_SHORT ? INCOMPLETE_SHORT : 0;
}

static TPC_SLOW void count_incomplete(uint32_t flags)
{
	tpc_add(flags & INCOMPLETE_CUT ? &tpc_header->walks_cut : &tpc_header->walks_short, 1);
}

/* ---- recall ---- */

/* Sorts the checks by slot: from the last to the first they nearly are. */
static void sort_others(struct walk *walk, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct tpc_word word = walk->checks[count - 1 - i];
		uint32_t at = i;

		for (; at > 0 && walk->others[at - 1].slot > word.slot; at--)
			walk->others[at] = walk->others[at - 1];
		walk->others[at] = word;
	}
}

/* Not for the first time a stack is seen: a program that starts up has a million stacks once. */
static void remember(struct walk *walk, const struct tpc_start *start)
{
	const struct detail *innermost = &walk->details[walk->count - 1];
	struct tpc_outcome outcome = {
		.returns = walk->returns,
		.return_count = walk->count - 1,
		.others = walk->others,
		.other_count = innermost->checks,
		.needs_bp = innermost->needs_bp,
		.result = { innermost->node, incompleteness(walk) },
	};

	if (walk->blind_at != NONE)
		return;
	for (uint32_t i = 0; i < walk->count - 1; i++) {
		const struct place *place = &walk->places[walk->count - 2 - i];

		walk->returns[i] = (struct tpc_word){ place->sp - sizeof(uintptr_t), place->pc };
	}
	sort_others(walk, innermost->checks);
	tpc_recall_add(&walk->front.recall, start, &outcome);
}

static TPC_SLOW void forget(struct walk *walk)
{
	walk->count = 0;
	walk->recall_epoch = 0;
	walk->epoch = tpc_modules_renew();
	memset(&walk->frames, 0, sizeof(walk->frames));
}

/* The thread's own stack exists as long as the thread; any other is checked each time. */
static uintptr_t end_of_stack(const struct tpc_thread *thread, uintptr_t sp)
{
	if (tpc_likely(thread->bounds.high == thread->own.high))
		return thread->own.high;
	return tpc_stack_readable(sp, thread->bounds.high);
}

static uint32_t walk_anew(struct tpc_thread *thread, struct tpc_registers at, uintptr_t context)
{
	struct walk *walk = walk_of(thread);
	struct tpc_start start = { at.pc, at.sp, at.bp, end_of_stack(thread, at.sp) };
	uint32_t stays, fresh, root;
	bool known = true;

	if (walk->epoch != tpc_load_acquire(&tpc_frames_epoch))
		forget(walk);
	walk->front.recall.last = 0;
	walk->front.recall.stamp = 0;
	root = walk->root;
	if (walk->count && walk->places[0].sp > start.high)
		walk->count = 0;
	stays = collect(thread, walk, &start, context, &fresh);
	if (fresh || stays != walk->count) { /* else the stack is unchanged */
		keep(walk, stays, fresh);
		known = renew(walk, stays, root);
	}
	if (known && !context && walk->epoch == tpc_load(&tpc_frames_epoch)) { /* else it would not be looked up */
		if (!walk->recall_epoch)
			tpc_recall_clear(&walk->front.recall);
		walk->recall_epoch = walk->epoch;
		remember(walk, &start);
	}
	if (tpc_unlikely(incompleteness(walk)))
		count_incomplete(incompleteness(walk));
	return walk->details[walk->count - 1].node;
}

/* The recalled stack's node, or if there is none, that of a new walk. */
static uint32_t result_of(struct tpc_thread *thread, const void *frame, const struct tpc_recall_leaf *leaf)
{
	if (!leaf)
		return walk_anew(thread, tpc_walk_caller(frame), 0);
	if (leaf->result.flags)
		count_incomplete(leaf->result.flags);
	return leaf->result.node;
}

uint32_t tpc_walk(struct tpc_thread *thread, const void *frame)
{
	struct tpc_registers at = tpc_walk_caller(frame);
	struct tpc_start start = { at.pc, at.sp, at.bp, end_of_stack(thread, at.sp) };
	struct walk *walk = walk_of(thread);
	bool current = walk->recall_epoch == tpc_load_acquire(&tpc_frames_epoch);

	return result_of(thread, frame, current ? tpc_recall_find(&walk->front.recall, &start) : NULL);
}

uint32_t tpc_walk_missed(struct tpc_thread *thread, const void *frame, uint32_t guess)
{
	struct tpc_start start = tpc_walk_start(thread, frame);
	struct walk *walk = walk_of(thread);
	const struct tpc_recall_leaf *leaf = NULL;

	if (walk->recall_epoch == tpc_load_acquire(&tpc_frames_epoch))
		leaf = tpc_recall_find_long(&walk->front.recall, start.pc, start.sp, start.bp, start.high, guess);
	return result_of(thread, frame, leaf);
}

/* Not recalled: an instruction is rarely interrupted twice, and samples would crowd out the stacks of allocations. */
uint32_t tpc_walk_interrupted(struct tpc_thread *thread, const void *context)
{
	uintptr_t at = (uintptr_t)context;
	uint32_t node = walk_anew(thread, tpc_step_interrupted(at), at);
	struct walk *walk = walk_of(thread);

	walk->places[walk->count - 1].pc |= INTERRUPTED;
	return node;
}

/* Walks to the stack's end. True: it passes a signal handler's frame, or one in the code `apart`. */
static bool meets(const struct tpc_thread *thread, struct tpc_stepper *stepper, struct tpc_range apart)
{
	struct tpc_step fresh;

	for (size_t i = 0; i < WALK_MAX; i++) {
		fresh = (struct tpc_step){ .at = stepper->at, .frame = tpc_frame_find(stepper->at.pc, stepper->exact) };
		if (fresh.frame.rule.kind == TPC_RULE_SIGNAL || tpc_range_holds(apart, stepper->at.pc))
			return true;
		if (!tpc_step_out(stepper, &fresh, thread))
			return false;
	}
	return false;
}

bool tpc_walk_is_plain(const struct tpc_thread *thread, const void *frame, struct tpc_range apart)
{
	struct tpc_registers at = tpc_walk_caller(frame);
	struct tpc_stepper stepper = { .at = at, .readable = { at.sp, end_of_stack(thread, at.sp) } };

	return !meets(thread, &stepper, apart) && stepper.root == TPROF_NODE_ROOT;
}

bool tpc_walk_is_handlers(const struct tpc_thread *thread, const void *frame)
{
	struct tpc_registers at = tpc_walk_caller(frame);
	struct tpc_stepper stepper = { .at = at, .readable = { at.sp, thread->own.high } };

	if (!tpc_range_holds(thread->own, at.sp))
		stepper.readable.high = tpc_stack_readable(at.sp, at.sp + TPC_STACK_WINDOW);
	return meets(thread, &stepper, (struct tpc_range){ 0, 0 });
}

bool tpc_walk_came_through(const struct tpc_thread *thread, const void *frame, struct tpc_range code, uintptr_t bp)
{
	struct tpc_registers at = tpc_walk_caller(frame);
	struct tpc_stepper stepper = { .at = at, .readable = { at.sp, end_of_stack(thread, at.sp) } };

	for (size_t i = 0; stepper.at.sp <= bp; i++) {
		struct tpc_step fresh = { .at = stepper.at, .frame = tpc_frame_find(stepper.at.pc, stepper.exact) };

		if (stepper.at.bp == bp && tpc_range_holds(code, stepper.at.pc))
			return true;
		if (i == WALK_MAX || !tpc_step_out(&stepper, &fresh, thread))
			return true;
	}
	return false;
}

uint32_t tpc_walk_last_root(const struct tpc_thread *thread)
{
	const struct walk *walk = (const struct walk *)thread->walk;

	if (walk->front.recall.last) {
		uint32_t flags = tpc_recall_leaf_at(&walk->front.recall, walk->front.recall.last)->result.flags;

		return flags & INCOMPLETE_CUT	  ? TPROF_NODE_CUT
		       : flags & INCOMPLETE_SHORT ? TPROF_NODE_SHORT
						  : TPROF_NODE_ROOT;
	}
	return walk->root;
}

size_t tpc_walk_last(const struct tpc_thread *thread, uintptr_t *pcs, size_t max)
{
	const struct walk *walk = (const struct walk *)thread->walk;

	if (walk->front.recall.last)
		return tpc_recall_last(&walk->front.recall, pcs, max);
	for (size_t i = 0; i < walk->count && i < max; i++)
		pcs[i] = walk->places[walk->count - 1 - i].pc & ~INTERRUPTED;
	return walk->count;
}
