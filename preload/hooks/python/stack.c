/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/python/stack.h"

#include "core/config.h"
#include "core/state.h"
#include "hooks/python/codes.h"
#include "hooks/python/joins.h"
#include "hooks/python/state.h"
#include "stacks/nodes.h"

#include <pthread.h>

#define FRAMES_MAX 1024u
#define NODES_CACHED 1024u /* a power of two */
#define FETCHED 16u	   /* frames, by tpc_python_fetch() */
#define OWNER_GENERATOR 1
#define OWNER_LAST 2 /* thread, generator, frame object; above: the loop's own frame, below its first frame */
#define DESERTED 1u  /* mark of an address: the loop's own frame, whose call has no other any more */

/* 3.11: offsets in the frame of a generator: its owner, and before it its state; and the instruction at which it waits. */
#define GENERATOR_OWNER 69
#define GENERATOR_STATE 5
#define YIELD_VALUE 86

tpc_shared_bool tpc_python_on TPC_LOOKED_AT;
struct tpc_range tpc_python_runtime;

struct place {
	uintptr_t frame;
	struct tpc_python_place at;
};

struct entry {
	struct place place;
	uint32_t node;
};

struct cached_node { /* a frame below a node */
	struct tpc_python_place at;
	uint32_t parent, node;
	uint64_t deaths; /* tpc_code_deaths at the time: later the address may be another code object's */
};

/* The thread's last Python stack, outermost frame first, so that common frames keep their places. */
struct stack {
	uint32_t count;
	uint32_t known;	 /* number of entries, from the outermost on, whose nodes are valid */
	uint32_t cached; /* 1: joined[] and nodes[] belong to this process's trace */
	uint32_t held;	 /* node of the frames from held_frame outwards, while the call of held_stamp lasts */
	uint64_t deaths; /* tpc_code_deaths at the time */
	uintptr_t held_frame;
	uint64_t held_stamp;  /* stamp of a hooked call (stacks/recall.h); 0: unknown */
	uintptr_t held_state; /* the PyThreadState of held_frame */
	struct tpc_joins joins;

	struct entry entries[FRAMES_MAX];
	struct place fresh[FRAMES_MAX]; /* innermost first */

	/* What was found lately in the tables of all threads, which are too large for the processor's caches. */
	struct cached_node nodes[NODES_CACHED];
	struct tpc_join joined[TPC_JOINS];
};

_Static_assert(sizeof(struct stack) <= TPC_PYTHON_BYTES, "the stack fits its room in struct tpc_thread");
_Static_assert(offsetof(struct stack, entries) == TPC_WALK_HEAD, "an empty stack is zeros");
_Static_assert(offsetof(struct stack, joined) % 64 == 0, "what is looked for in one cache line is in one");

static struct stack *stack_of(struct tpc_thread *thread)
{
	return (struct stack *)thread->python;
}

/* ---- the chain of frames ---- */

/*
 * Each of these is compiled twice: with a reader for samples, and with NULL for hooks, where a frame costs some fifteen
 * instructions.
 */

/* The members of struct tpc_python_layout that are needed to read frames, as wide as an address to avoid conversions. */
struct offsets {
	uintptr_t previous, code, at, entry, owner, generator, runs;
	bool at_is_index;
};

TPC_INLINE struct offsets offsets_of(const struct tpc_python_layout *layout)
{
	return (struct offsets){ layout->frame_previous, layout->frame_code,  layout->frame_at,
				 layout->frame_entry,	 layout->frame_owner, layout->frame_generator,
				 layout->generator_runs, layout->at_is_index };
}

/* Up to 3.11: the PyThreadState that holds the GIL; 0: none. */
TPC_INLINE uintptr_t state_with_lock(void)
{
	return tpc_load((const uintptr_t *)(tpc_python_runtime.low + tpc_python.runtime_current));
}

/* This thread's PyThreadState. 0: none. */
TPC_INLINE uintptr_t thread_state(struct tpc_reader *reader)
{
	const struct tpc_python_key *key = tpc_load_acquire(&tpc_python_key);
	uintptr_t state, current;

	if (tpc_unlikely(!key))
		return tpc_python_find_key();
	if (!key->made) /* before the interpreter starts, and after it ends */
		return 0;
	state = (uintptr_t)pthread_getspecific((pthread_key_t)key->key);
	if (!state || tpc_read_word(reader, state + tpc_python.thread_id) != tpc_arch_thread())
		return 0;
	if (!tpc_python.runtime_current)
		return state;
	current = state_with_lock();
	return tpc_likely(current == state || !current) ? state : tpc_python_which(state, current);
}

TPC_INLINE bool is_own(struct tpc_reader *reader, const struct offsets *of, uintptr_t frame)
{
	return frame && tpc_read_byte(reader, frame + of->owner) > OWNER_LAST;
}

/*
 * From 3.12 on, a call of the loop unlinks its last frame before it releases what that held. Code that runs then, a
 * __del__() or the free() of a large block, is called by a loop without a frame other than its own. That one stands for
 * a frame that is not shown; otherwise the outer frames would be attributed to this call. At the end of the chain
 * nothing is outside of it.
 */
TPC_INLINE uintptr_t mark_deserted(struct tpc_reader *reader, const struct offsets *of, uintptr_t frame)
{
	if (tpc_likely(!is_own(reader, of, frame)))
		return frame;
	return tpc_read_word(reader, frame + of->previous) ? frame | DESERTED : 0;
}

/* Skips the frame that the loop puts below the first frame of each of its calls. */
TPC_INLINE uintptr_t skip_own(struct tpc_reader *reader, const struct offsets *of, uintptr_t frame, bool *skipped)
{
	*skipped = is_own(reader, of, frame);
	return *skipped ? mark_deserted(reader, of, tpc_read_word(reader, frame + of->previous)) : frame;
}

/* The innermost frame of that state; 0: it runs nothing. */
TPC_INLINE uintptr_t innermost(struct tpc_reader *reader, uintptr_t state)
{
	uintptr_t frame;
	struct offsets of;

	if (!state)
		return 0;
	frame = tpc_read_word(reader, state + tpc_python.thread_frame);
	if (tpc_python.cframe && frame)
		frame = tpc_read_word(reader, frame + tpc_python.cframe - 1);
	if (!tpc_python.frame_owner)
		return frame;
	of = offsets_of(&tpc_python);
	return mark_deserted(reader, &of, frame);
}

/*
 * Up to 3.10, each frame has a call of the loop. The exception are generators and coroutines that wait for another one
 * when something is thrown into them: that goes to the innermost one directly (_gen_throw of Objects/genobject.c). One
 * that the loop runs knows the exception handled before it (gi_exc_state.previous_item).
 */
TPC_INLINE bool has_call(struct tpc_reader *reader, const struct offsets *of, uintptr_t frame)
{
	uintptr_t generator = tpc_read_word(reader, frame + of->generator);

	return tpc_likely(!generator) || tpc_read_word(reader, generator + of->runs);
}

static TPC_SLOW uintptr_t read_deserted(struct tpc_reader *reader, const struct offsets *of, uintptr_t frame,
					struct tpc_python_place *place)
{
	*place = (struct tpc_python_place){ .at = TPC_PYTHON_DESERTED };
	return mark_deserted(reader, of, tpc_read_word(reader, frame - DESERTED + of->previous));
}

/* Reads a frame, and returns its caller's. */
TPC_INLINE uintptr_t read_frame(struct tpc_reader *reader, const struct offsets *of, uintptr_t frame,
				struct tpc_python_place *place)
{
	uintptr_t previous, code, at;
	bool skipped;

	if (of->owner && tpc_unlikely(frame & DESERTED))
		return read_deserted(reader, of, frame, place);
	previous = tpc_read_word(reader, frame + of->previous);
	code = tpc_read_word(reader, frame + of->code);
	if (of->at_is_index)
		at = (uintptr_t)(uint32_t)tpc_read_int(reader, frame + of->at) << 1;
	else
		at = tpc_read_word(reader, frame + of->at);
	if (of->at_is_index) {
		at |= has_call(reader, of, frame);
	} else if (of->entry) {
		at |= tpc_read_byte(reader, frame + of->entry) & 1u; /* a bool of C's */
	} else if (of->owner) {
		previous = skip_own(reader, of, previous, &skipped);
		at |= skipped;
		code &= ~(uintptr_t)7; /* from 3.14 on with marks */
	}
	*place = (struct tpc_python_place){ .code = code, .at = at };
	return previous;
}

static inline bool same(const struct tpc_python_place *a, const struct tpc_python_place *b)
{
	return !((a->code ^ b->code) | (a->at ^ b->at));
}

/* ---- nodes ---- */

/* The entry of nodes[] that is tried first. */
static inline uint32_t slot_of(const struct tpc_python_place *at, uint32_t parent)
{
	uint64_t key = (at->at ^ at->code << 20) + parent;

	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & (NODES_CACHED - 1);
}

/*
 * From 3.12 on, a specialized call of a class has a frame of the interpreter below __init__(), which drops its result
 * (_Py_InitCleanup of Python/specialize.c, "__init__" in a file of that name). Python shows it nowhere.
 */
static bool is_cleanup(struct tpc_reader *reader, const struct tpc_python_place *at)
{
	uintptr_t name = at->code ? tpc_read_word(reader, at->code + tpc_python.code_name) : 0;

	return tpc_range_holds(tpc_python_runtime, name) &&
	       name == tpc_read_word(reader, at->code + tpc_python.code_file);
}

/*
 * In 3.11, what is thrown into a generator or coroutine that waits for another goes to the innermost one without a call
 * of the loop for those between (_gen_throw of Objects/genobject.c), which still have the mark of an earlier call. They
 * are where they wait, and marked as running (0). If a tracer is told of a yield, the state has changed by then.
 */
static bool is_passed_by(struct tpc_reader *reader, const struct place *place)
{
	return tpc_python.frame_entry && place->at.at & 1 &&
	       tpc_read_byte(reader, place->frame + GENERATOR_OWNER) == OWNER_GENERATOR &&
	       tpc_read_byte(reader, place->frame - GENERATOR_STATE) == 0 &&
	       tpc_read_byte(reader, place->at.at & ~(uintptr_t)1) == YIELD_VALUE;
}

/* The node of a frame below `parent`; `parent` itself if the frame is not shown. 0: the frame can't be read. */
static uint32_t make_node(struct tpc_reader *reader, const struct place *place, uint32_t parent)
{
	struct tpc_python_place at = place->at;
	struct tpc_node_miss miss;
	uint32_t number, node;

	if (is_passed_by(reader, place))
		at.at &= ~(uintptr_t)1;
	number = tpc_python_frame(reader, &at);
	if (!number)
		return 0;
	if (tpc_python.frame_owner && parent != TPROF_NODE_ROOT && is_cleanup(reader, &at))
		return parent;
	node = tpc_node_find(parent, number, &miss);
	return node ? node : tpc_nodes_make(parent, &number, 1, &miss);
}

static inline bool is_cached(const struct cached_node *cached, const struct stack *stack,
			     const struct tpc_python_place *at, uint32_t parent)
{
	return cached->parent == parent && same(&cached->at, at) && cached->deaths == stack->deaths && cached->node;
}

static uint32_t find_node(struct tpc_reader *reader, struct stack *stack, const struct place *place, uint32_t parent)
{
	const struct tpc_python_place *at = &place->at;
	uint32_t slot = slot_of(at, parent);
	struct cached_node *cached = &stack->nodes[slot];

	if (tpc_likely(is_cached(cached, stack, at, parent)))
		return cached->node;
	cached = &stack->nodes[slot ^ 1];
	if (tpc_likely(is_cached(cached, stack, at, parent)))
		return cached->node;
	*cached = stack->nodes[slot]; /* which was later */
	stack->nodes[slot] = (struct cached_node){ *at, parent, make_node(reader, place, parent), stack->deaths };
	return stack->nodes[slot].node;
}

/* Makes nodes for the entries that have none. False: a frame can't be read. */
static bool intern(struct tpc_reader *reader, struct stack *stack, uint32_t root)
{
	uint32_t parent = stack->known ? stack->entries[stack->known - 1].node : root;

	for (uint32_t i = stack->known; i < stack->count; i++) {
		parent = find_node(reader, stack, &stack->entries[i].place, parent);
		if (!parent)
			return false;
		stack->entries[i].node = parent;
	}
	stack->known = root == TPROF_NODE_ROOT ? stack->count : 0;
	return true;
}

/* The first of the thread, or of a forked child: numbers begin anew. */
static TPC_SLOW void begin(struct stack *stack)
{
	memset(stack->nodes, 0, sizeof(stack->nodes));
	tpc_joins_clear(stack->joined);
	stack->cached = 1;
}

/* ---- a hook's ---- */

static TPC_SLOW void note_difference(struct stack *stack, struct entry *entry, struct tpc_python_place at)
{
	uint32_t i = (uint32_t)(entry - stack->entries);

	entry->place.at = at;
	stack->known = i < stack->known ? i : stack->known;
	/* Most stacks differ in one frame: prefetches its node while the frames around it are compared. */
	__builtin_prefetch(&stack->nodes[slot_of(&at, i ? entry[-1].node : TPROF_NODE_ROOT)]);
}

/*
 * Most stacks are as deep as the last one, with mostly the same frames: only compares those, and updates the differing
 * ones. False: another stack.
 */
TPC_INLINE bool compare_as(struct stack *stack, uintptr_t frame, const struct offsets *of)
{
	for (struct entry *entry = &stack->entries[stack->count]; entry-- > stack->entries;) {
		uintptr_t known = entry->place.frame;
		struct tpc_python_place at;

		if (tpc_unlikely(frame != known))
			return false;
		__asm__(""
			: "+r"(known)); /* else the compiler uses `frame`, which must be waited for, one frame after another */
		frame = read_frame(NULL, of, known, &at);
		if (tpc_unlikely(!same(&at, &entry->place.at)))
			note_difference(stack, entry, at);
	}
	return !frame;
}

/* One loop for each kind of layout: the kind is tested once for a stack, not once for a frame. */
static bool compare(struct stack *stack, uintptr_t frame)
{
	struct offsets of = offsets_of(&tpc_python);

	if (of.at_is_index) {
		of.at_is_index = true;
		of.entry = of.owner = 0;
		return compare_as(stack, frame, &of);
	}
	of.at_is_index = false;
	if (of.entry) {
		of.owner = 0;
		return compare_as(stack, frame, &of);
	}
	of.entry = 0;
	if (!of.owner)
		__builtin_unreachable();
	return compare_as(stack, frame, &of);
}

/* Collects frames from `frame` outwards in fresh[], up to the limit. *root: what is above them. */
TPC_INLINE uint32_t collect(struct tpc_reader *reader, struct stack *stack, uintptr_t frame, uint32_t *root)
{
	const struct offsets of = offsets_of(&tpc_python);
	uint32_t count = 0, depth = tpc_load(&tpc_config.depth), most = depth < FRAMES_MAX ? depth : FRAMES_MAX;

	for (; frame && count < most; count++) {
		struct place *place = &stack->fresh[count];

		place->frame = frame;
		frame = read_frame(reader, &of, frame, &place->at);
	}
	*root = frame ? TPROF_NODE_CUT : TPROF_NODE_ROOT;
	return count;
}

/* How many of the `count` frames in fresh[], from the outermost on, are those of the last stack and have known nodes. */
static uint32_t count_known(const struct stack *stack, uint32_t count)
{
	uint32_t known = 0;

	while (known < count && known < stack->known) {
		const struct place *fresh = &stack->fresh[count - 1 - known], *old = &stack->entries[known].place;

		if (fresh->frame != old->frame || !same(&fresh->at, &old->at))
			break;
		known++;
	}
	return known;
}

/* Replaces entries[] by fresh[]. */
static void replace(struct stack *stack, uint32_t count)
{
	uint32_t known = count_known(stack, count);

	for (uint32_t i = known; i < count; i++)
		stack->entries[i].place = stack->fresh[count - 1 - i];
	stack->count = count;
	stack->known = known;
}

static TPC_SLOW uint32_t unread(struct stack *stack, uint32_t native)
{
	stack->count = stack->known = 0;
	tpc_add(&tpc_header->python_unread, 1);
	return native;
}

/* Another stack than the last one, or one with a frame whose code object may have changed. 0: it can't be read. */
static TPC_SLOW uint32_t renew(struct stack *stack, uintptr_t frame, bool collected)
{
	struct tpc_reader reader = { 0 };
	uint32_t root = TPROF_NODE_ROOT;

	if (!collected)
		replace(stack, collect(NULL, stack, frame, &root));
	return intern(&reader, stack, root) ? stack->entries[stack->count - 1].node : 0;
}

/* The node of the Python frames from `frame` outwards. 0: they can't be read. */
static uint32_t find_python(struct stack *stack, uintptr_t frame)
{
	uint64_t deaths = tpc_load_acquire(&tpc_code_deaths);
	bool same_depth;

	if (tpc_unlikely(deaths != stack->deaths))
		stack->known = 0;
	stack->deaths = deaths;
	same_depth = compare(stack, frame);
	if (tpc_likely(same_depth && stack->known == stack->count))
		return stack->entries[stack->count - 1].node;
	return renew(stack, frame, same_depth);
}

/*
 * The same. During a hooked call, the frames that it was called from do not change: the innermost is in the middle of
 * the call.
 */
TPC_INLINE uint32_t find_held(struct stack *stack, uintptr_t state, uintptr_t frame, uint64_t stamp)
{
	if (stamp && tpc_likely(stack->held_stamp == stamp && stack->held_frame == frame))
		return stack->held;
	stack->held = find_python(stack, frame);
	stack->held_frame = frame;
	stack->held_state = state;
	stack->held_stamp = stack->held ? stamp : 0;
	return stack->held;
}

/*
 * thread_state() for a hook. If the call during which a state was found is still in progress, and that state holds the
 * GIL, it is this thread's as before.
 */
TPC_INLINE uintptr_t held_state(const struct stack *stack, uint64_t stamp)
{
	if (stamp && stack->held_stamp == stamp && tpc_python.runtime_current && state_with_lock() == stack->held_state)
		return stack->held_state;
	return thread_state(NULL);
}

/* The joined node of `native` and the thread's Python frames; also predicts the next one. */
TPC_INLINE uint32_t join(struct tpc_thread *thread, struct stack *stack, uint32_t native)
{
	struct tpc_recall *recall = &((struct tpc_walk_front *)thread->walk)->recall;
	uintptr_t state = held_state(stack, recall->stamp), frame = innermost(NULL, state);
	uint32_t python;

	if (!frame)
		return native;
	if (tpc_unlikely(!stack->cached))
		begin(stack);
	python = find_held(stack, state, frame, recall->stamp);
	if (!python)
		return unread(stack, native);
	return tpc_joins_go_on(&stack->joins, stack->joined, native, python, recall);
}

uint32_t tpc_python_stack(struct tpc_thread *thread, const void *frame, uint32_t guess)
{
	struct stack *stack = stack_of(thread);
	uint32_t native;

	tpc_joins_fetch(&stack->joins, stack->joined);
	if (tpc_likely(thread->bounds.high == thread->own.high))
		native = tpc_walk_hot(thread, frame, guess);
	else
		native = tpc_walk(thread, frame);
	return join(thread, stack, native);
}

/* A frame that is gone may be anywhere, so it is not read. */
void tpc_python_fetch(const struct tpc_thread *thread)
{
	const struct stack *stack = (const struct stack *)thread->python;
	uint32_t least = stack->count > FETCHED ? stack->count - FETCHED : 0;

	for (uint32_t i = stack->count; i-- > least;) {
		const char *frame = (const char *)stack->entries[i].place.frame;

		__builtin_prefetch(frame + tpc_python.frame_previous);
		__builtin_prefetch(frame + tpc_python.frame_at);
	}
	tpc_joins_fetch(&stack->joins, stack->joined);
}

/* ---- a sample's ---- */

/*
 * Like find_node(), for a frame that was read with care: found only in the cache, because what is read here may be in
 * the middle of a change.
 */
static uint32_t find_node_lately(struct tpc_reader *reader, const struct stack *stack, bool current,
				 const struct place *place, uint32_t parent)
{
	const struct tpc_python_place *at = &place->at;
	uint32_t slot = slot_of(at, parent);

	for (uint32_t i = 0; current && i < 2; i++) {
		if (is_cached(&stack->nodes[slot ^ i], stack, at, parent))
			return stack->nodes[slot ^ i].node;
	}
	return make_node(reader, place, parent);
}

/*
 * The node of the frames in fresh[]. Only looks at what hooks know of the thread's stack: nothing that was read in the
 * middle of a change gets into it. 0: a frame can't be read.
 */
static uint32_t intern_fresh(struct tpc_reader *reader, const struct stack *stack, uint32_t count, uint32_t root)
{
	bool current = stack->cached && stack->deaths == tpc_load_acquire(&tpc_code_deaths);
	uint32_t known = current && root == TPROF_NODE_ROOT ? count_known(stack, count) : 0;
	uint32_t node = known ? stack->entries[known - 1].node : root;

	for (uint32_t i = count - known; node && i-- > 0;)
		node = find_node_lately(reader, stack, current, &stack->fresh[i], node);
	return node;
}

uint32_t tpc_python_join_interrupted(struct tpc_thread *thread, uint32_t native)
{
	struct stack *stack = stack_of(thread);
	struct tpc_reader reader = { .careful = true };
	uintptr_t frame = innermost(&reader, thread_state(&reader));
	uint32_t root, count, node = 0;

	if (!frame && !reader.bad)
		return native;
	count = collect(&reader, stack, frame, &root);
	if (!reader.bad && count)
		node = intern_fresh(&reader, stack, count, root);
	if (!node) {
		tpc_add(&tpc_header->python_unread, 1);
		return native;
	}
	return tpc_node_join(native, node);
}
