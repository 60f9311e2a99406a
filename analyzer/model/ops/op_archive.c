/* SPDX-License-Identifier: Apache-2.0 */
/* Saving and loading ops: what is known of each, the tree of calls, and the calls that are open. */
#include "trace/number_archive.h"
#include "model/ops/ops.h"

static void archive_shapes(struct tp_archive *archive, struct tp_op_state *state)
{
	struct tp_op_stats *stats = &state->stats;

	tp_archive_array(archive, &stats->shapes, &stats->shape_count, &state->shape_room, sizeof(*stats->shapes));
	for (size_t i = 0; archive->loading && i < stats->shape_count; i++)
		stats->shapes[i].text = NULL;
	tp_archive_check(archive, stats->shape_count <= TP_OP_SHAPES + 1, "an op has too many shapes");
	for (size_t i = 0; i < stats->shape_count; i++)
		tp_archive_text(archive, &stats->shapes[i].text);
}

static void archive_means(struct tp_archive *archive, struct tp_means *means)
{
	TP_ARCHIVE(archive, *means);
	tp_archive_check(archive, tp_series_is_valid(&means->series, TP_MEANS), "means are out of range");
}

static void archive_batches(struct tp_archive *archive, struct tp_batches *batches)
{
	TP_ARCHIVE(archive, *batches);
	tp_archive_check(archive, tp_series_is_valid(&batches->series, TP_BATCH_MAX), "batches are out of range");
}

static void archive_state(struct tp_archive *archive, struct tp_op_state *state)
{
	struct tp_op_stats *stats = &state->stats;
	uint32_t op = stats->op;

	TP_ARCHIVE(archive, *stats);
	if (archive->loading) { /* pointers of the process that saved it */
		stats->op = op;
		stats->name = stats->category = NULL;
		stats->means = NULL;
		stats->histogram = NULL;
		stats->batches = NULL;
		stats->shapes = NULL;
		stats->shape_count = 0;
	}
	archive_shapes(archive, state);
	TP_ARCHIVE(archive, state->later);
	TP_ARCHIVE(archive, state->timed);
	tp_histogram_archive(archive, state->durations);
	archive_means(archive, state->means);
	if (state->batches)
		archive_batches(archive, state->batches);
}

static void archive_states(struct tp_archive *archive, struct tp_ops *ops)
{
	uint32_t count = 0, op;

	for (uint32_t i = 0; ops->states && i < ops->count; i++)
		count += ops->states[i] != NULL;
	TP_ARCHIVE(archive, count);
	for (uint32_t i = 0; !archive->loading && ops->states && i < ops->count; i++) {
		op = i;
		if (!ops->states[i])
			continue;
		tp_archive_op(archive, &op);
		archive_state(archive, ops->states[i]);
	}
	while (archive->loading && count-- && !archive->failed) {
		tp_archive_op(archive, &op);
		if (!tp_archive_check(archive, !ops->states || !ops->states[op], "an op stands there twice"))
			return;
		archive_state(archive, tp_op_state(ops, op));
	}
}

void tp_ops_archive(struct tp_archive *archive, struct tp_ops *ops)
{
	TP_ARCHIVE(archive, ops->counts);
	TP_ARCHIVE(archive, ops->last);
	tp_archive_op(archive, &ops->last.op);
	TP_ARCHIVE(archive, ops->outermost_ns);
	tp_op_tree_archive(archive, &ops->tree);
	archive_states(archive, ops);
}

/* Whether what an open call refers to is there. */
static bool is_valid(const struct tp_ops *ops, const struct tp_op_frame *frame)
{
	const struct tp_op_state *state = ops->states ? ops->states[frame->op] : NULL;

	return frame->op && frame->node && frame->node < ops->tree.count &&
	       (!frame->shape || (state && frame->shape <= state->stats.shape_count)) &&
	       frame->said.precision <= TP_UNSAID && frame->shaped.precision <= TP_UNSAID &&
	       (frame->torch & ~TP_OP_TORCH_ALONE) <= TP_TORCH_NO_FORMULA + 1;
}

void tp_op_stack_archive(struct tp_archive *archive, struct tp_ops *ops, struct tp_op_stack *stack)
{
	size_t count = stack->count, room = stack->room;

	tp_archive_array(archive, &stack->frames, &count, &room, sizeof(*stack->frames));
	tp_archive_check(archive, count <= TP_OP_DEPTH, "too many ops are open");
	stack->count = archive->failed ? 0 : (uint32_t)count;
	stack->room = (uint32_t)room;
	TP_ARCHIVE(archive, stack->deeper);
	TP_ARCHIVE(archive, stack->cost);
	for (uint32_t i = 0; i < stack->count && !archive->failed; i++) {
		struct tp_op_frame *frame = &stack->frames[i];

		tp_archive_op(archive, &frame->op);
		tp_archive_check(archive, is_valid(ops, frame), "an open op is out of range");
	}
}
