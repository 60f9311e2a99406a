/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads ops: the state of each op, the tree of calls, and the open calls. */
#include "trace/number_archive.h"
#include "model/ops/ops.h"

static void archive_shapes(struct tpa_archive *archive, struct tpa_op_state *state)
{
	struct tpa_op_stats *stats = &state->stats;

	tpa_archive_array(archive, &stats->shapes, &stats->shape_count, &state->shape_room, sizeof(*stats->shapes));
	for (size_t i = 0; archive->loading && i < stats->shape_count; i++)
		stats->shapes[i].text = NULL;
	tpa_archive_check(archive, stats->shape_count <= TPA_OP_SHAPES + 1, "an op has too many shapes");
	for (size_t i = 0; i < stats->shape_count; i++)
		tpa_archive_text(archive, &stats->shapes[i].text);
}

static void archive_means(struct tpa_archive *archive, struct tpa_means *means)
{
	TPA_ARCHIVE(archive, *means);
	tpa_archive_check(archive, tpa_series_is_valid(&means->series, TPA_MEANS), "means are out of range");
}

static void archive_batches(struct tpa_archive *archive, struct tpa_batches *batches)
{
	TPA_ARCHIVE(archive, *batches);
	tpa_archive_check(archive, tpa_series_is_valid(&batches->series, TPA_BATCH_MAX), "batches are out of range");
}

static void archive_state(struct tpa_archive *archive, struct tpa_op_state *state)
{
	struct tpa_op_stats *stats = &state->stats;
	uint32_t op = stats->op;

	TPA_ARCHIVE(archive, *stats);
	if (archive->loading) { /* these were pointers in the process that saved them */
		stats->op = op;
		stats->name = stats->category = NULL;
		stats->means = NULL;
		stats->histogram = NULL;
		stats->batches = NULL;
		stats->shapes = NULL;
		stats->shape_count = 0;
	}
	archive_shapes(archive, state);
	TPA_ARCHIVE(archive, state->later);
	TPA_ARCHIVE(archive, state->timed);
	TPA_ARCHIVE(archive, state->share);
	tpa_histogram_archive(archive, state->durations);
	archive_means(archive, state->means);
	if (state->batches)
		archive_batches(archive, state->batches);
}

static void archive_states(struct tpa_archive *archive, struct tpa_ops *ops)
{
	uint32_t count = 0, op;

	for (uint32_t i = 0; ops->states && i < ops->count; i++)
		count += ops->states[i] != NULL;
	TPA_ARCHIVE(archive, count);
	for (uint32_t i = 0; !archive->loading && ops->states && i < ops->count; i++) {
		op = i;
		if (!ops->states[i])
			continue;
		tpa_archive_op(archive, &op);
		archive_state(archive, ops->states[i]);
	}
	while (archive->loading && count-- && !archive->failed) {
		tpa_archive_op(archive, &op);
		if (!tpa_archive_check(archive, !ops->states || !ops->states[op], "an op stands there twice"))
			return;
		archive_state(archive, tpa_op_state(ops, op));
	}
}

/* Saves or loads in which ops the regions were opened. */
static void archive_opened(struct tpa_archive *archive, struct tpa_ops *ops)
{
	uint32_t count = 0, none = 0, region, outer;

	for (size_t i = 0; ops->opened_in && i < ops->trace->op_count; i++)
		count += ops->opened_in[i] != 0;
	TPA_ARCHIVE(archive, count);
	for (uint32_t i = 0; !archive->loading && count && i < ops->trace->op_count; i++) {
		region = i;
		if (!ops->opened_in[i])
			continue;
		tpa_archive_op(archive, &region);
		tpa_archive_op(archive, &ops->opened_in[i]);
	}
	while (archive->loading && count-- && !archive->failed) {
		tpa_archive_op(archive, &region);
		tpa_archive_op(archive, &outer);
		*(ops->opened_in && !tpa_op_is_nameless(ops, region) ? &ops->opened_in[region] : &none) = outer;
	}
}

void tpa_ops_archive(struct tpa_archive *archive, struct tpa_ops *ops)
{
	TPA_ARCHIVE(archive, ops->batches);
	TPA_ARCHIVE(archive, ops->counts);
	TPA_ARCHIVE(archive, ops->spans);
	TPA_ARCHIVE(archive, ops->last);
	tpa_archive_op(archive, &ops->last.op);
	TPA_ARCHIVE(archive, ops->outermost_ticks);
	tpa_op_tree_archive(archive, &ops->tree);
	archive_states(archive, ops);
	archive_opened(archive, ops);
}

/* Whether all that an open call refers to exists. */
static bool is_valid(const struct tpa_ops *ops, const struct tpa_op_frame *frame)
{
	const struct tpa_op_state *state = ops->states ? ops->states[frame->op] : NULL;

	return frame->op && frame->node && frame->node < ops->tree.count &&
	       (!frame->shape || (state && frame->shape <= state->stats.shape_count)) &&
	       frame->said.precision <= TPA_UNSAID && frame->shaped.precision <= TPA_UNSAID &&
	       (frame->torch & ~TPA_OP_TORCH_ALONE) <= TPA_TORCH_NO_FORMULA + 1;
}

void tpa_op_stack_archive(struct tpa_archive *archive, struct tpa_ops *ops, struct tpa_op_stack *stack)
{
	size_t count = stack->count, room = stack->room;

	tpa_archive_array(archive, &stack->frames, &count, &room, sizeof(*stack->frames));
	tpa_archive_check(archive, count <= TPA_OP_DEPTH, "too many ops are open");
	stack->count = archive->failed ? 0 : (uint32_t)count;
	stack->room = (uint32_t)room;
	TPA_ARCHIVE(archive, stack->deeper);
	TPA_ARCHIVE(archive, stack->cost);
	for (uint32_t i = 0; i < stack->count && !archive->failed; i++) {
		struct tpa_op_frame *frame = &stack->frames[i];

		tpa_archive_op(archive, &frame->op);
		tpa_archive_check(archive, is_valid(ops, frame), "an open op is out of range");
	}
}
