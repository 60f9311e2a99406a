/* SPDX-License-Identifier: Apache-2.0 */
/* The spans in which calls were recorded, and what ops did in the whole run. */
#include "model/ops/ops.h"

/*
 * Whether the op is recorded at all times: its calls begin outside of the spans at least half as often as in them. Few do by
 * chance, because a thread learns of a new level a moment later.
 */
static bool is_steady(const struct tpa_ops *ops, const struct tpa_op_state *state)
{
	const struct tpa_op_spans *spans = &ops->spans;
	uint32_t op = state->stats.op;
	uint64_t outside = state->share.outside, calls = state->stats.calls;
	double inside = calls > outside ? (double)(calls - outside) : 0;

	if (op >= ops->trace->op_count || ops->trace->ops[op].origin != TPROF_OP_FUNCTION)
		return true;
	return 2 * (double)outside * spans->time > inside * ((double)spans->whole - spans->time);
}

/* The op's amounts of a span; adds them to `sums` if they belong there. */
static void end_span_of(const struct tpa_ops *ops, struct tpa_op_state *state, double ticks, uint64_t *sums)
{
	const uint64_t now[TPA_SHARES] = { state->stats.calls, state->stats.total_ns, state->stats.self_ns };
	bool steady = is_steady(ops, state);

	for (unsigned which = 0; which < TPA_SHARES; which++) {
		uint64_t amount = now[which] - state->share.before[which];

		tpa_op_share_add(&state->share, which, amount, ticks);
		sums[which] += steady ? 0 : amount;
	}
}

/* The span that ends has all that was counted since the last one. */
static void end_span(struct tpa_ops *ops)
{
	struct tpa_op_spans *spans = &ops->spans;
	double ticks = (double)spans->ticks;
	uint64_t sums[TPA_SHARES] = { 0 };

	if (!spans->ticks)
		return;
	spans->count++;
	spans->time += ticks;
	spans->square += ticks * ticks;
	spans->ticks = 0;
	for (uint32_t i = 0; ops->states && i < ops->count; i++)
		if (ops->states[i])
			end_span_of(ops, ops->states[i], ticks, sums);
	for (unsigned which = 0; which < TPA_SHARES; which++)
		tpa_op_share_add(&spans->all, which, sums[which], ticks);
}

void tpa_ops_record(struct tpa_ops *ops, bool recorded)
{
	if (recorded && ops->spans.off)
		end_span(ops);
	ops->spans.off = !recorded;
}

void tpa_ops_pass(struct tpa_ops *ops, uint64_t ticks)
{
	ops->spans.whole += ticks;
	if (!ops->spans.off)
		ops->spans.ticks += ticks;
}

void tpa_ops_end_spans(struct tpa_ops *ops)
{
	end_span(ops);
}

/* ---- estimates ---- */

static void scale(struct tpa_op_whole *whole, double tick_ns)
{
	for (unsigned which = TPA_SHARE_TOTAL; which < TPA_SHARES; which++) {
		whole->amounts[which].value *= tick_ns;
		whole->amounts[which].half *= tick_ns;
	}
}

struct tpa_op_whole tpa_op_whole(const struct tpa_ops *ops, const struct tpa_op_state *state, double tick_ns)
{
	const double recorded[TPA_SHARES] = { (double)state->stats.calls, (double)state->stats.total_ns,
					      (double)state->stats.self_ns };
	struct tpa_op_whole whole = { .limited = ops->spans.whole != 0 };

	if (!whole.limited)
		return whole;
	for (unsigned which = 0; which < TPA_SHARES; which++)
		whole.amounts[which] = is_steady(ops, state)
					       ? (struct tpa_whole){ recorded[which], 0 }
					       : tpa_op_share_whole(&ops->spans, &state->share, which, recorded[which]);
	scale(&whole, tick_ns);
	return whole;
}

struct tpa_op_whole tpa_ops_whole(const struct tpa_ops *ops, double tick_ns)
{
	const struct tpa_op_share *all = &ops->spans.all;
	struct tpa_op_whole whole = { .limited = ops->spans.whole != 0 };

	for (unsigned which = 0; whole.limited && which < TPA_SHARES; which++)
		whole.amounts[which] = tpa_op_share_whole(&ops->spans, all, which, (double)all->before[which]);
	scale(&whole, tick_ns);
	return whole;
}
