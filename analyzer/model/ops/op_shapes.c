/* SPDX-License-Identifier: Apache-2.0 */
/* The work of ops, as it follows from the sizes of their tensors, and the number of calls for which it is known. */
#include <string.h>

#include "model/ops/ops.h"

const struct tpa_torch_work *tpa_ops_torch(struct tpa_ops *ops, uint64_t number)
{
	const struct tpa_op *op = number < ops->trace->op_count ? &ops->trace->ops[number] : NULL;
	struct tpa_torch_work *work = op ? &ops->torch[number] : NULL;

	if (!op || !op->name || strcmp(op->category, "torch") != 0 || strncmp(op->name, "aten::", 6) != 0)
		return NULL;
	if (!work->asked) {
		tpa_torch_work(op->name, op->tensors, op->tensors_length, work);
		work->asked = true;
	}
	return work;
}

struct tpa_op_work tpa_op_work_of_torch(const struct tpa_torch_work *torch)
{
	return (struct tpa_op_work){ .flop = torch->amount.flop,
				     .bytes = torch->amount.bytes,
				     .precision = torch->amount.precision,
				     .uncounted = torch->known == TPA_TORCH_KNOWN && !torch->amount.flop_known,
				     .unknown = torch->known != TPA_TORCH_KNOWN,
				     .matrix_flop = tpa_work_is_matrix(torch->kind) ? torch->amount.flop : 0 };
}

void tpa_ops_shape(struct tpa_ops *ops, struct tpa_op_stack *stack, uint64_t number)
{
	struct tpa_op_frame *frame = stack->count ? &stack->frames[stack->count - 1] : NULL;
	const struct tpa_op *op = number < ops->trace->op_count ? &ops->trace->ops[number] : NULL;
	const struct tpa_torch_work *torch = tpa_ops_torch(ops, number);

	if (!frame || stack->deeper || !frame->counted)
		return;
	if (torch) {
		frame->torch = (uint8_t)((1 + torch->known) | (torch->alone ? TPA_OP_TORCH_ALONE : 0));
		frame->shaped = tpa_op_work_of_torch(torch);
	}
	if (op && op->shape && *op->shape)
		frame->shape = tpa_op_shape(tpa_op_state(ops, frame->op), op->shape, strlen(op->shape));
}

/* Whether other ops account for the call's work: the ops that it consists of, or the op that it is a part of. */
static bool others_tell(const struct tpa_op_stack *stack, const struct tpa_op_frame *frame)
{
	const struct tpa_op_work *inner = &frame->inner;
	bool alone = frame->torch & TPA_OP_TORCH_ALONE;

	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->frames[i].shaped.bytes)
			return true;
	return inner->unknown || (!alone && (inner->flop || inner->bytes || inner->uncounted));
}

void tpa_op_count_known(struct tpa_ops *ops, struct tpa_op_state *state, enum tpa_torch_known known, uint64_t calls)
{
	switch (known) {
	case TPA_TORCH_KNOWN:
		ops->counts.known += calls;
		state->stats.known += calls;
		break;
	case TPA_TORCH_NO_SHAPE:
		ops->counts.no_shape += calls;
		state->stats.no_shape += calls;
		break;
	case TPA_TORCH_NO_FORMULA:
		ops->counts.no_formula += calls;
		state->stats.no_formula += calls;
		break;
	}
}

bool tpa_op_note_known(struct tpa_ops *ops, const struct tpa_op_stack *stack, const struct tpa_op_frame *frame)
{
	enum tpa_torch_known known = (enum tpa_torch_known)((frame->torch & ~TPA_OP_TORCH_ALONE) - 1);

	if (!frame->counted || (known != TPA_TORCH_KNOWN && others_tell(stack, frame)))
		return false;
	tpa_op_count_known(ops, tpa_op_state(ops, frame->op), known, 1);
	return known != TPA_TORCH_KNOWN;
}
