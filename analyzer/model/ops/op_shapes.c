/* SPDX-License-Identifier: Apache-2.0 */
/* What ops do by the sizes of their tensors, and of how many calls that is known. */
#include <string.h>

#include "model/ops/ops.h"

const struct tp_torch_work *tp_ops_torch(struct tp_ops *ops, uint64_t number)
{
	const struct tp_op *op = number < ops->trace->op_count ? &ops->trace->ops[number] : NULL;
	struct tp_torch_work *work = op ? &ops->torch[number] : NULL;

	if (!op || !op->name || strcmp(op->category, "torch") != 0 || strncmp(op->name, "aten::", 6) != 0)
		return NULL;
	if (!work->asked) {
		tp_torch_work(op->name, op->tensors, op->tensors_length, work);
		work->asked = true;
	}
	return work;
}

struct tp_op_work tp_op_work_of_torch(const struct tp_torch_work *torch)
{
	return (struct tp_op_work){ .flop = torch->amount.flop,
				    .bytes = torch->amount.bytes,
				    .precision = torch->amount.precision,
				    .uncounted = torch->known == TP_TORCH_KNOWN && !torch->amount.flop_known,
				    .unknown = torch->known != TP_TORCH_KNOWN,
				    .matrix_flop = tp_work_is_matrix(torch->kind) ? torch->amount.flop : 0 };
}

void tp_ops_shape(struct tp_ops *ops, struct tp_op_stack *stack, uint64_t number)
{
	struct tp_op_frame *frame = stack->count ? &stack->frames[stack->count - 1] : NULL;
	const struct tp_op *op = number < ops->trace->op_count ? &ops->trace->ops[number] : NULL;
	const struct tp_torch_work *torch = tp_ops_torch(ops, number);

	if (!frame || stack->deeper || !frame->counted)
		return;
	if (torch) {
		frame->torch = (uint8_t)((1 + torch->known) | (torch->alone ? TP_OP_TORCH_ALONE : 0));
		frame->shaped = tp_op_work_of_torch(torch);
	}
	if (op && op->shape && *op->shape)
		frame->shape = tp_op_shape(tp_op_state(ops, frame->op), op->shape, strlen(op->shape));
}

/* Of an op that is made of others these say what it does, and of a part the whole does. */
static bool others_tell(const struct tp_op_stack *stack, const struct tp_op_frame *frame)
{
	const struct tp_op_work *inner = &frame->inner;
	bool alone = frame->torch & TP_OP_TORCH_ALONE;

	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].shaped.bytes)
			return true;
	return inner->unknown || (!alone && (inner->flop || inner->bytes || inner->uncounted));
}

void tp_op_count_known(struct tp_ops *ops, struct tp_op_state *state, enum tp_torch_known known, uint64_t calls)
{
	switch (known) {
	case TP_TORCH_KNOWN:
		ops->counts.known += calls;
		state->stats.known += calls;
		break;
	case TP_TORCH_NO_SHAPE:
		ops->counts.no_shape += calls;
		state->stats.no_shape += calls;
		break;
	case TP_TORCH_NO_FORMULA:
		ops->counts.no_formula += calls;
		state->stats.no_formula += calls;
		break;
	}
}

bool tp_op_note_known(struct tp_ops *ops, const struct tp_op_stack *stack, const struct tp_op_frame *frame)
{
	enum tp_torch_known known = (enum tp_torch_known)((frame->torch & ~TP_OP_TORCH_ALONE) - 1);

	if (!frame->counted || (known != TP_TORCH_KNOWN && others_tell(stack, frame)))
		return false;
	tp_op_count_known(ops, tp_op_state(ops, frame->op), known, 1);
	return known != TP_TORCH_KNOWN;
}
