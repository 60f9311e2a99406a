/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind include/tprof.h, passed on as one table. */
#include <tprof.h>

#include "core/fold.h"
#include "core/tables.h"
#include "core/usage.h"
#include "hooks/gate/enter.h"
#include "hooks/memory/pool.h"
#include "hooks/ops/told/annotate.h"
#include "hooks/ops/told/instrument.h"
#include "hooks/ops/entry.h"
#include "hooks/ops/unwound.h"
#include "hooks/ops/names.h"
#include "hooks/gate/pause.h"

#define FRAME __builtin_frame_address(0)

/* An event of the calling thread begins. */
TPC_HOT uint64_t event_begins(struct tpc_thread *thread, const void *frame)
{
	uint64_t ticks = tpc_clock_before();

	tpc_record(thread, ticks);
	tpc_ops_end_left(thread, frame, ticks);
	tpc_fold_close(&thread->fold);
	return ticks;
}

/* Records one event of the calling thread by its emitter; `enter` says when. */
#define RECORD(enter, frame, emit)                                                                                     \
	do {                                                                                                           \
		struct tpc_thread *thread = enter(frame);                                                              \
		uint64_t ticks;                                                                                        \
                                                                                                                       \
		if (!thread)                                                                                           \
			return;                                                                                        \
		ticks = event_begins(thread, frame);                                                                   \
		emit;                                                                                                  \
		tpc_recorded(thread);                                                                                  \
		tpc_leave(thread);                                                                                     \
	} while (0)

/* ---- ops: who began each open one, and whether it was recorded: an end must not end another annotator's op ---- */

enum { RECORDED, BY_ITT, BY_NVTX, KINDS };

static TPC_TLS struct {
	uint64_t bits[KINDS][TPC_ANNOTATED_MAX / 64];
	uint32_t depth;
	bool others; /* an op was begun by another annotator: BY_ITT and BY_NVTX are in use */
} open_ops;

/* A bit of the op with `depth` others around it, less than TPC_ANNOTATED_MAX. */
static bool bit_of(int kind, uint32_t depth)
{
	return open_ops.bits[kind][depth / 64] >> depth % 64 & 1;
}

static void set_bit(int kind, uint32_t depth, bool value)
{
	uint64_t bit = UINT64_C(1) << depth % 64;

	if (value)
		open_ops.bits[kind][depth / 64] |= bit;
	else
		open_ops.bits[kind][depth / 64] &= ~bit;
}

static bool is_recorded(uint32_t depth)
{
	return bit_of(RECORDED, depth);
}

static bool is_by(uint32_t depth, enum tpc_annotator by)
{
	return bit_of(BY_ITT, depth) == (by == TPC_ANNOTATOR_ITT) &&
	       bit_of(BY_NVTX, depth) == (by == TPC_ANNOTATOR_NVTX);
}

TPC_HOT void push(bool recorded, enum tpc_annotator by)
{
	uint32_t depth = open_ops.depth++;

	if (depth >= TPC_ANNOTATED_MAX)
		return;
	set_bit(RECORDED, depth, recorded);
	if (by == TPC_ANNOTATOR_TPROF && !open_ops.others)
		return;
	open_ops.others = true;
	set_bit(BY_ITT, depth, by == TPC_ANNOTATOR_ITT);
	set_bit(BY_NVTX, depth, by == TPC_ANNOTATOR_NVTX);
}

/* The innermost op was not recorded: what is said of it must not be applied to another. */
static bool is_passed_over(void)
{
	uint32_t depth = open_ops.depth - 1;

	return depth < TPC_ANNOTATED_MAX && !is_recorded(depth);
}

TPC_HOT bool record_begin(const void *frame, const char *name, const char *category)
{
	struct tpc_thread *thread = tpc_enter(frame);
	uint64_t ticks;

	if (!thread)
		return false;
	ticks = event_begins(thread, frame);
	if (open_ops.depth < TPC_ANNOTATED_MAX)
		thread->annotated[open_ops.depth] = (uint16_t)thread->op_depth;
	tpc_emit_op(thread, ticks, tpc_op_number(name ? name : "?", category, TPROF_OP_ANNOTATION));
	tpc_recorded(thread);
	tpc_leave(thread);
	return true;
}

void tpc_annotate_begin(const void *frame, enum tpc_annotator by, const char *name, const char *category)
{
	push(record_begin(frame, name, category), by);
}

void tpc_annotate_skip(enum tpc_annotator by)
{
	push(false, by);
}

/* It was begun within `depth` others. */
static void emit_end(struct tpc_thread *thread, uint64_t ticks, uint32_t depth)
{
	if (depth < TPC_ANNOTATED_MAX)
		tpc_ops_end_within(thread, thread->annotated[depth], ticks);
	tpc_emit_op_end(thread, ticks, false);
}

TPC_HOT void record_end(const void *frame, uint32_t depth)
{
	RECORD(tpc_enter_end, frame, emit_end(thread, ticks, depth));
}

/* The same, if others that were begun within it stay open; of hooked calls, those that are not over. */
static void emit_outer_end(struct tpc_thread *thread, uint64_t ticks, uint32_t depth)
{
	uint32_t within = thread->op_depth - thread->annotated[depth];

	if (thread->annotated[depth] > thread->op_depth)
		within = 0;
	for (uint32_t i = depth + 1; i < open_ops.depth; i++)
		within += is_recorded(i);
	tpc_emit_op_end_outer(thread, ticks, within);
}

static void record_outer_end(const void *frame, uint32_t depth)
{
	RECORD(tpc_enter_end, frame, emit_outer_end(thread, ticks, depth));
}

/* Removes the op that is within `depth` others. */
static void take_out(uint32_t depth)
{
	struct tpc_thread *thread = tpc_self;

	for (uint32_t i = depth + 1; i < open_ops.depth; i++) {
		for (int kind = 0; kind < KINDS; kind++)
			set_bit(kind, i - 1, bit_of(kind, i));
		if (thread)
			thread->annotated[i - 1] = thread->annotated[i];
	}
	open_ops.depth--;
}

/* How many others surround the op that contains `inner` ops of the same annotator. UINT32_MAX: there is none. */
static uint32_t find(enum tpc_annotator by, uint32_t inner)
{
	for (uint32_t i = open_ops.depth; i > 0; i--)
		if (is_by(i - 1, by) && inner-- == 0)
			return i - 1;
	return UINT32_MAX;
}

/* Deeper ops, and an end without a begin, count as recorded. Functions that report their own ends are not counted. */
void tpc_annotate_end(const void *frame, enum tpc_annotator by, uint32_t inner)
{
	uint32_t last = open_ops.depth - 1, depth = last; /* if none is open: more than any */

	if (tpc_unlikely(open_ops.others) && open_ops.depth && open_ops.depth <= TPC_ANNOTATED_MAX &&
	    !tpc_instrument_any())
		depth = find(by, inner);
	if (depth != last) {
		if (depth == UINT32_MAX)
			return;
		if (is_recorded(depth))
			record_outer_end(frame, depth);
		take_out(depth);
		return;
	}
	open_ops.depth -= open_ops.depth > 0;
	if (depth >= TPC_ANNOTATED_MAX || is_recorded(depth))
		record_end(frame, depth);
}

bool tpc_annotate_any(void)
{
	return open_ops.depth > 0;
}

void tpc_annotate_leave(struct tpc_thread *thread)
{
	for (uint32_t depth = open_ops.depth; depth > 0; depth--)
		if (depth > TPC_ANNOTATED_MAX || is_recorded(depth - 1))
			tpc_emit_op_end(thread, tpc_clock_before(), true);
	tpc_annotate_forget();
}

void tpc_annotate_forget(void)
{
	memset(open_ops.bits[RECORDED], 0, sizeof(open_ops.bits[RECORDED]));
}

static void op_begin(const char *name, const char *category)
{
	tpc_annotate_begin(FRAME, TPC_ANNOTATOR_TPROF, name, category);
}

static void op_end(void)
{
	tpc_annotate_end(FRAME, TPC_ANNOTATOR_TPROF, 0);
}

void tpc_annotate_detail(const char *shape, uint64_t flop, uint64_t bytes)
{
	if (is_passed_over())
		return;
	RECORD(tpc_enter, FRAME, tpc_emit_detail(thread, ticks, shape ? shape : "", flop, bytes));
}

/* ---- the rest ---- */

static void step(uint64_t items)
{
	RECORD(tpc_enter, FRAME, tpc_recorded_step(thread);
	       tpc_emit_step(thread, tpc_usage_emit(thread, ticks), items));
}

void tpc_annotate_mark(const char *text)
{
	RECORD(tpc_enter, FRAME, tpc_emit_mark(thread, ticks, text ? text : ""));
}

void tpc_annotate_thread(const char *name, bool to_kernel)
{
	RECORD(tpc_enter, FRAME, (void)ticks;
	       tpc_emit_name(thread, name ? name : "", strnlen(name ? name : "", TPC_TEXT_MAX));
	       thread->named = !to_kernel);
}

static void thread_name(const char *name)
{
	tpc_annotate_thread(name, false);
}

static void pool_alloc(const void *pool, const void *block, size_t size)
{
	tpc_pool_alloc(FRAME, pool, block, size);
}

static void pool_free(const void *block)
{
	tpc_pool_free(FRAME, block);
}

static void pool_reset(const void *pool)
{
	tpc_pool_reset(FRAME, pool);
}

static void start(void)
{
	tpc_resume(FRAME);
}

static void stop(void)
{
	tpc_pause(FRAME);
}

static void value(const char *name, uint64_t value)
{
	RECORD(tpc_enter, FRAME, (void)ticks; tpc_table_value(value, name ? name : "", strnlen(name ? name : "", 255)));
}

extern const struct tprof_api tprof_api_1;

TPC_EXPORT const struct tprof_api tprof_api_1 = {
	.size = sizeof(struct tprof_api),
	.op_begin = op_begin,
	.op_end = op_end,
	.op_detail = tpc_annotate_detail,
	.step = step,
	.mark = tpc_annotate_mark,
	.thread_name = thread_name,
	.value = value,
	.pool_alloc = pool_alloc,
	.pool_free = pool_free,
	.pool_reset = pool_reset,
	.start = start,
	.stop = stop,
};
