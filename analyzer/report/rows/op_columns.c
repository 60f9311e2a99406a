/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/op_columns.h"

#include <math.h>

#include "model/result/priorities.h"
#include "report/rows/call_tree.h"
#include "report/rows/level_words.h"
#include "report/rows/op_waits.h"

#define OP(member) TPA_MEMBER(struct tpa_op_stats, member)
#define SHAPE(member) TPA_MEMBER(struct tpa_shape_stats, member)

#define OP_GETTER(name) TPA_GETTER(name, struct tpa_op_stats)

static struct tpa_figure number(uint64_t number)
{
	return (struct tpa_figure){ .number = (int64_t)number };
}

OP_GETTER(total)
{
	return (struct tpa_figure){ .number = (int64_t)row->total_ns,
				    .variance = row->total_variance,
				    .unseen = row->untimed > 0 };
}

OP_GETTER(self)
{
	return (struct tpa_figure){ .number = (int64_t)row->self_ns,
				    .variance = row->self_variance,
				    .unseen = row->untimed > 0 || row->self_variance > 0 };
}

OP_GETTER(own)
{
	struct tpa_figure value = get_self(row, context);

	value.number += (int64_t)row->own_part_ns;
	return value;
}

OP_GETTER(own_allocated)
{
	return number(row->self_allocated_bytes + row->parts_allocated_bytes);
}

OP_GETTER(threads_wait)
{
	return (struct tpa_figure){ .unknown = !row->has_threads, .number = (int64_t)row->threads_wait_ns };
}

OP_GETTER(not_running)
{
	struct tpa_interval interval;
	uint64_t ns = 0;
	bool known = tpa_op_not_running(row, &ns, &interval);

	return (struct tpa_figure){ .unknown = !known, .number = (int64_t)ns };
}

OP_GETTER(not_running_interval)
{
	struct tpa_interval interval = { 0, 0 };
	uint64_t ns;
	bool known = tpa_op_not_running(row, &ns, &interval);

	return (struct tpa_figure){ .unknown = !known, .interval = interval };
}

OP_GETTER(spinning)
{
	return (struct tpa_figure){ .unknown = !row->cpu_period_ns,
				    .number = (int64_t)(row->spinning.periods * row->cpu_period_ns) };
}

OP_GETTER(spinning_interval)
{
	struct tpa_interval interval = tpa_op_cpu_interval(row, &row->spinning);

	return (struct tpa_figure){ .unknown = !row->cpu_period_ns, .interval = interval };
}

OP_GETTER(estimated)
{
	return number(row->untimed > 0);
}

/* Amounts in the whole run, where calls were recorded in a part of the time. */
static struct tpa_figure whole(const struct tpa_op_stats *op, unsigned which)
{
	double value = op->whole.amounts[which].value;

	return (struct tpa_figure){ .unknown = !op->whole.limited || isnan(value),
				    .number = isnan(value) ? 0 : (int64_t)tpa_round(value) };
}

static struct tpa_figure whole_interval(const struct tpa_op_stats *op, unsigned which, uint64_t recorded)
{
	struct tpa_interval interval = tpa_whole_interval(&op->whole.amounts[which], (double)recorded);

	return (struct tpa_figure){ .unknown = !op->whole.limited || isnan(interval.high), .interval = interval };
}

OP_GETTER(whole_calls)
{
	return whole(row, TPA_SHARE_CALLS);
}

OP_GETTER(whole_calls_interval)
{
	return whole_interval(row, TPA_SHARE_CALLS, row->calls);
}

OP_GETTER(whole_total)
{
	return whole(row, TPA_SHARE_TOTAL);
}

OP_GETTER(whole_total_interval)
{
	return whole_interval(row, TPA_SHARE_TOTAL, row->total_ns);
}

OP_GETTER(whole_self)
{
	return whole(row, TPA_SHARE_SELF);
}

OP_GETTER(whole_self_interval)
{
	return whole_interval(row, TPA_SHARE_SELF, row->self_ns);
}

OP_GETTER(deviation)
{
	return number(tpa_round(tpa_moments_deviation(&row->durations)));
}

OP_GETTER(flop)
{
	return (struct tpa_figure){ .number = (int64_t)row->flop, .none = !row->flop, .least = row->uncounted > 0 };
}

OP_GETTER(flop_rate)
{
	return (struct tpa_figure){ .none = !row->flop || !row->total_ns,
				    .real = row->total_ns ? (double)row->flop / (double)row->total_ns : 0,
				    .least = row->uncounted > 0 };
}

OP_GETTER(moved)
{
	return (struct tpa_figure){ .number = (int64_t)row->bytes, .none = !row->bytes && !row->known };
}

OP_GETTER(effective)
{
	return (struct tpa_figure){ .real = row->durations.count ? tpa_means_worth(row->interval, &row->durations)
								 : NAN };
}

OP_GETTER(interval)
{
	return (struct tpa_figure){ .interval = row->interval, .unknown = isnan(row->interval.low) };
}

const struct tpa_column tpa_op_columns[] = {
	{ "name", "op", TPA_UNIT_NAME, OP(name) },
	{ "category", "category", TPA_UNIT_TEXT, OP(category) },
	{ "calls", "calls", TPA_UNIT_COUNT, OP(calls) },
	{ "unwound", "unwound", TPA_UNIT_COUNT, OP(unwound) },
	{ "folded", NULL, TPA_UNIT_COUNT, OP(folded) },
	{ "untimed", NULL, TPA_UNIT_COUNT, OP(untimed) },
	{ "open", "still open", TPA_UNIT_COUNT, OP(open) },
	{ "total_overhead_ns", "taken out", TPA_UNIT_NS, OP(total_cost_ns) },
	{ "self_overhead_ns", NULL, TPA_UNIT_NS, OP(self_cost_ns) },
	{ "first_ns", NULL, TPA_UNIT_NS, OP(first_ns) },
	{ "warmup_calls", "calls", TPA_UNIT_COUNT, OP(warmup_calls) },
	{ "warmup_ns", "warm-up", TPA_UNIT_NS, OP(warmup_ns), .no_zero = true },
	{ "mean_ns", "mean", TPA_UNIT_NS, OP(mean_ns) },
	{ "stddev_ns", "stddev", TPA_UNIT_NS, TPA_COMPUTED(deviation) },
	{ "min_ns", "min", TPA_UNIT_NS, OP(min_ns) },
	{ "p50_ns", "p50", TPA_UNIT_NS, OP(p50_ns) },
	{ "p90_ns", "p90", TPA_UNIT_NS, OP(p90_ns) },
	{ "p99_ns", "p99", TPA_UNIT_NS, OP(p99_ns) },
	{ "max_ns", "max", TPA_UNIT_NS, OP(max_ns) },
	{ "flop", "FLOP", TPA_UNIT_FLOP, TPA_COMPUTED(flop) },
	{ "self_flop", "itself", TPA_UNIT_FLOP, OP(self_flop) },
	{ "flop_uncounted_calls", NULL, TPA_UNIT_COUNT, OP(uncounted) },
	{ "self_matrix_flop", NULL, TPA_UNIT_FLOP, OP(self_matrix_flop) },
	{ "known_calls", NULL, TPA_UNIT_COUNT, OP(known) },
	{ "no_shape_calls", NULL, TPA_UNIT_COUNT, OP(no_shape) },
	{ "no_formula_calls", NULL, TPA_UNIT_COUNT, OP(no_formula) },
	{ "bytes", "bytes moved", TPA_UNIT_BYTES, TPA_COMPUTED(moved) },
	{ "self_bytes", NULL, TPA_UNIT_BYTES, OP(self_bytes) },
	{ "allocated_bytes", "allocated", TPA_UNIT_BYTES, OP(allocated_bytes) },
	{ "freed_bytes", "freed", TPA_UNIT_BYTES, OP(freed_bytes) },
	{ "self_allocated_bytes", "itself", TPA_UNIT_BYTES, OP(self_allocated_bytes) },
	{ "self_allocations", NULL, TPA_UNIT_COUNT, OP(self_allocations) },
	{ "self_temporary", NULL, TPA_UNIT_COUNT, OP(self_temporary) },
	{ "peak_bytes", "peak of a call", TPA_UNIT_BYTES, OP(peak_bytes),
	  .hint = "live bytes above those at its begin" },
	{ "total_ns", "total", TPA_UNIT_NS, TPA_COMPUTED(total), .hint = "with the ops that it called" },
	{ "self_ns", "self", TPA_UNIT_NS, TPA_COMPUTED(self), .hint = "without them" },
	{ "own_ns", "self", TPA_UNIT_NS, TPA_COMPUTED(own), .no_json = true },
	{ "own_allocated_bytes", "itself", TPA_UNIT_BYTES, TPA_COMPUTED(own_allocated), .no_json = true },
	{ "threads_wait_ns", "waiting", TPA_UNIT_NS, TPA_COMPUTED(threads_wait) },
	{ "not_running_ns", NULL, TPA_UNIT_NS, TPA_COMPUTED(not_running) },
	{ "not_running_ns_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(not_running_interval) },
	{ "spinning_ns", NULL, TPA_UNIT_NS, TPA_COMPUTED(spinning) },
	{ "spinning_ns_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(spinning_interval) },
	{ "estimated", NULL, TPA_UNIT_BOOL, TPA_COMPUTED(estimated) },
	{ "estimated_calls", NULL, TPA_UNIT_COUNT, TPA_COMPUTED(whole_calls) },
	{ "estimated_calls_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(whole_calls_interval) },
	{ "estimated_total_ns", NULL, TPA_UNIT_NS, TPA_COMPUTED(whole_total) },
	{ "estimated_total_ns_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(whole_total_interval) },
	{ "estimated_self_ns", NULL, TPA_UNIT_NS, TPA_COMPUTED(whole_self) },
	{ "estimated_self_ns_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(whole_self_interval) },
	{ "flop_in", NULL, .unit = TPA_UNIT_OTHER },
	{ "net_bytes", "net", TPA_UNIT_NET_BYTES, OP(net_bytes), .hint = "allocated less freed" },
	{ "effective_calls", NULL, TPA_UNIT_REAL, TPA_COMPUTED(effective) },
	{ "ci95_ns", "95%", TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(interval), .hint = "of the mean" },
	{ "shapes", NULL, .unit = TPA_UNIT_OTHER },
	{ "buckets", NULL, .unit = TPA_UNIT_OTHER },
	{ "rate", "GFLOP/s", TPA_UNIT_RATE, TPA_COMPUTED(flop_rate), .no_json = true },
	{ .key = NULL },
};

/* Mean of all calls but the first, in ns; 0: there are no others, or they took no time. */
static uint64_t rest_of(const struct tpa_shape_stats *shape)
{
	return shape->calls > 1 ? (shape->calls_ns - shape->first_ns) / (shape->calls - 1) : 0;
}

TPA_GETTER(rest, struct tpa_shape_stats)
{
	return (struct tpa_figure){ .unknown = row->calls <= 1, .number = (int64_t)rest_of(row) };
}

/* The first call divided by the mean of the others. It is large if something was compiled or created in the first call. */
TPA_GETTER(first_factor, struct tpa_shape_stats)
{
	uint64_t mean = rest_of(row);

	return (struct tpa_figure){ .none = !mean, .real = mean ? (double)row->first_ns / (double)mean : 0 };
}

const struct tpa_column tpa_shape_columns[] = {
	{ "shape", "shape", TPA_UNIT_TEXT, SHAPE(text), .missing = "(all further shapes)" },
	{ "calls", "calls", TPA_UNIT_COUNT, SHAPE(calls) },
	{ "total_ns", "total", TPA_UNIT_NS, SHAPE(total_ns) },
	{ "first_ns", "first call", TPA_UNIT_NS, SHAPE(first_ns) },
	{ "flop", "FLOP", TPA_UNIT_FLOP, SHAPE(flop) },
	{ "rest_mean_ns", "mean", TPA_UNIT_NS, TPA_COMPUTED(rest) },
	{ "factor", "", TPA_UNIT_FACTOR, TPA_COMPUTED(first_factor), .no_json = true },
	{ "rate", "GFLOP/s", TPA_UNIT_RATE, TPA_PER(struct tpa_shape_stats, flop, total_ns), .no_json = true,
	  .no_zero = true },
	{ .key = NULL },
};

#define NODE(member) TPA_MEMBER(struct tpa_op_node, member)

TPA_GETTER(node_calls, struct tpa_op_node)
{
	return (struct tpa_figure){ .number = (int64_t)row->calls, .text = row->calls ? NULL : "open" };
}

TPA_GETTER(node_name, struct tpa_op_node)
{
	return (struct tpa_figure){ .text = tpa_op_node_name(context->process, row) };
}

TPA_GETTER(node_category, struct tpa_op_node)
{
	const struct tpa_trace *trace = context->process->trace;

	return (struct tpa_figure){ .text = (row->op < trace->op_count ? trace->ops[row->op].category : NULL) ?: "" };
}

const struct tpa_column tpa_op_node_columns[] = {
	{ "calls", "calls", TPA_UNIT_COUNT, TPA_COMPUTED(node_calls) },
	{ "total_ns", "total", TPA_UNIT_NS, NODE(total_ns), .no_zero = true },
	{ "self_ns", "self", TPA_UNIT_NS, NODE(self_ns), .no_zero = true },
	{ "mean_ns", "mean", TPA_UNIT_NS, TPA_PER(struct tpa_op_node, total_ns, calls), .no_json = true },
	{ "flop", "FLOP", TPA_UNIT_FLOP, NODE(flop) },
	{ "self_flop", NULL, TPA_UNIT_FLOP, NODE(self_flop) },
	{ "rate", "GFLOP/s", TPA_UNIT_RATE, TPA_PER(struct tpa_op_node, flop, total_ns), .no_json = true,
	  .no_zero = true },
	{ "allocated_bytes", "allocated", TPA_UNIT_BYTES, NODE(allocated_bytes) },
	{ "self_allocated_bytes", NULL, TPA_UNIT_BYTES, NODE(self_allocated_bytes) },
	{ "peak_bytes", "peak of a call", TPA_UNIT_BYTES, NODE(peak_bytes) },
	{ "parent", NULL, TPA_UNIT_NUMBER, NODE(parent), .known_above_0 = true },
	{ "net_bytes", "net", TPA_UNIT_NET_BYTES, NODE(net_bytes) },
	{ "name", "op", TPA_UNIT_NAME, TPA_COMPUTED(node_name) },
	{ "category", NULL, TPA_UNIT_TEXT, TPA_COMPUTED(node_category) },
	{ .key = NULL },
};

#define LAYER(member) TPA_MEMBER(struct tpa_layer, member)

const struct tpa_column tpa_layer_columns[] = {
	{ "layer", "layer", TPA_UNIT_NAME, LAYER(name), .missing = "(ops in no layer)" },
	{ "calls", "calls", TPA_UNIT_COUNT, LAYER(calls), .no_zero = true },
	{ "total_ns", "total", TPA_UNIT_NS, LAYER(total_ns), .no_zero = true },
	{ "own_ns", "own time", TPA_UNIT_NS, LAYER(own_ns) },
	{ "own_share", "%", TPA_UNIT_SHARE, LAYER(own_ns), .of_whole = true, .no_json = true },
	{ "own_allocated_bytes", "allocated", TPA_UNIT_BYTES, LAYER(own_bytes) },
	{ "own_flop", "own FLOP", TPA_UNIT_FLOP, LAYER(own_flop) },
	{ "flop", "FLOP", TPA_UNIT_FLOP, LAYER(flop) },
	{ "rate", "GFLOP/s", TPA_UNIT_RATE, TPA_PER(struct tpa_layer, own_flop, own_ns), .no_json = true,
	  .no_zero = true },
	{ .key = NULL },
};

#define FIRST(member) TPA_MEMBER(struct tpa_priority, member)

TPA_GETTER(speedup, struct tpa_priority)
{
	return (struct tpa_figure){ .unknown = !isfinite(row->speedup), .real = row->speedup };
}

const struct tpa_column tpa_priority_columns[] = {
	{ "op", "op", TPA_UNIT_NAME, TPA_VIA(struct tpa_priority, op, name) },
	{ "self_ns", "self", TPA_UNIT_NS, FIRST(own_ns), .hint = "its own time, without the ops that it called" },
	{ "share_of_ops", "of the ops", TPA_UNIT_SHARE, FIRST(of_ops) },
	{ "share_of_run", "of the run", TPA_UNIT_SHARE, FIRST(of_run) },
	{ "saved_ns_at_most", NULL, TPA_UNIT_NS, FIRST(saved_ns) },
	{ "speedup_at_most", "run faster by, at most", TPA_UNIT_FACTOR, TPA_COMPUTED(speedup),
	  .hint = "if this op took no time at all" },
	{ .key = NULL },
};
