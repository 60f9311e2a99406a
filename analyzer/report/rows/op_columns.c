/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/op_columns.h"

#include <math.h>

#include "model/result/result.h"

#define OP(member) TP_MEMBER(struct tp_op_stats, member)
#define SHAPE(member) TP_MEMBER(struct tp_shape_stats, member)

/* Begins a getter: `op` is its row. */
#define OP_GETTER(name)                                                                                                \
	static struct tp_figure get_op_##name(const struct tp_op_stats *op);                                           \
	static struct tp_figure name(const void *row, const void *context)                                             \
	{                                                                                                              \
		(void)context;                                                                                         \
		return get_op_##name(row);                                                                             \
	}                                                                                                              \
	static struct tp_figure get_op_##name(const struct tp_op_stats *op)

static struct tp_figure number(uint64_t number)
{
	return (struct tp_figure){ .number = (int64_t)number };
}

/* FLOP a nanosecond is GFLOP a second. */
static struct tp_figure rate(uint64_t flop, uint64_t ns)
{
	return (struct tp_figure){ .none = !flop || !ns, .real = ns ? (double)flop / (double)ns : 0 };
}

OP_GETTER(total)
{
	return (struct tp_figure){ .number = (int64_t)op->total_ns,
				   .variance = op->total_variance,
				   .unseen = op->untimed > 0 };
}

OP_GETTER(self)
{
	return (struct tp_figure){ .number = (int64_t)op->self_ns,
				   .variance = op->self_variance,
				   .unseen = op->self_variance > 0 };
}

OP_GETTER(estimated)
{
	return number(op->untimed > 0);
}

OP_GETTER(warmup)
{
	return (struct tp_figure){ .none = !op->warmup_calls, .number = (int64_t)op->warmup_ns };
}

OP_GETTER(deviation)
{
	return number(tp_round(tp_moments_deviation(&op->durations)));
}

OP_GETTER(flop)
{
	return (struct tp_figure){ .number = (int64_t)op->flop, .none = !op->flop, .least = op->uncounted > 0 };
}

OP_GETTER(flop_rate)
{
	struct tp_figure value = rate(op->flop, op->total_ns);

	value.least = op->uncounted > 0;
	return value;
}

OP_GETTER(moved)
{
	return (struct tp_figure){ .number = (int64_t)op->bytes, .none = !op->bytes && !op->known };
}

OP_GETTER(effective)
{
	return (struct tp_figure){ .real = op->durations.count ? tp_means_worth(op->interval, &op->durations) : NAN };
}

OP_GETTER(interval)
{
	return (struct tp_figure){ .interval = op->interval, .unknown = isnan(op->interval.low) };
}

const struct tp_column tp_op_columns[] = {
	{ "name", "op", TP_UNIT_NAME, OP(name) },
	{ "category", "category", TP_UNIT_TEXT, OP(category) },
	{ "calls", "calls", TP_UNIT_COUNT, OP(calls) },
	{ "unwound", "unwound", TP_UNIT_COUNT, OP(unwound) },
	{ "folded", NULL, TP_UNIT_COUNT, OP(folded) },
	{ "untimed", NULL, TP_UNIT_COUNT, OP(untimed) },
	{ "open", "still open", TP_UNIT_COUNT, OP(open) },
	{ "total_overhead_ns", "taken out", TP_UNIT_NS, OP(total_cost_ns) },
	{ "self_overhead_ns", NULL, TP_UNIT_NS, OP(self_cost_ns) },
	{ "first_ns", NULL, TP_UNIT_NS, OP(first_ns) },
	{ "warmup_calls", "calls", TP_UNIT_COUNT, OP(warmup_calls) },
	{ "warmup_ns", "warm-up", TP_UNIT_NS, TP_COMPUTED(warmup) },
	{ "mean_ns", "mean", TP_UNIT_NS, OP(mean_ns) },
	{ "stddev_ns", "stddev", TP_UNIT_NS, TP_COMPUTED(deviation) },
	{ "min_ns", "min", TP_UNIT_NS, OP(min_ns) },
	{ "p50_ns", "p50", TP_UNIT_NS, OP(p50_ns) },
	{ "p90_ns", "p90", TP_UNIT_NS, OP(p90_ns) },
	{ "p99_ns", "p99", TP_UNIT_NS, OP(p99_ns) },
	{ "max_ns", "max", TP_UNIT_NS, OP(max_ns) },
	{ "flop", "FLOP", TP_UNIT_FLOP, TP_COMPUTED(flop) },
	{ "self_flop", "itself", TP_UNIT_FLOP, OP(self_flop) },
	{ "flop_uncounted_calls", NULL, TP_UNIT_COUNT, OP(uncounted) },
	{ "self_matrix_flop", NULL, TP_UNIT_FLOP, OP(self_matrix_flop) },
	{ "known_calls", NULL, TP_UNIT_COUNT, OP(known) },
	{ "no_shape_calls", NULL, TP_UNIT_COUNT, OP(no_shape) },
	{ "no_formula_calls", NULL, TP_UNIT_COUNT, OP(no_formula) },
	{ "bytes", "bytes moved", TP_UNIT_BYTES, TP_COMPUTED(moved) },
	{ "self_bytes", NULL, TP_UNIT_BYTES, OP(self_bytes) },
	{ "allocated_bytes", "allocated", TP_UNIT_BYTES, OP(allocated_bytes) },
	{ "freed_bytes", "freed", TP_UNIT_BYTES, OP(freed_bytes) },
	{ "self_allocated_bytes", "itself", TP_UNIT_BYTES, OP(self_allocated_bytes) },
	{ "self_allocations", NULL, TP_UNIT_COUNT, OP(self_allocations) },
	{ "self_temporary", NULL, TP_UNIT_COUNT, OP(self_temporary) },
	{ "peak_bytes", "peak of a call", TP_UNIT_BYTES, OP(peak_bytes) },
	{ "total_ns", "total", TP_UNIT_NS, TP_COMPUTED(total) },
	{ "self_ns", "self", TP_UNIT_NS, TP_COMPUTED(self) },
	{ "estimated", NULL, TP_UNIT_BOOL, TP_COMPUTED(estimated) },
	{ "flop_in", NULL, .unit = TP_UNIT_OTHER },
	{ "net_bytes", "net", TP_UNIT_NET_BYTES, OP(net_bytes) },
	{ "effective_calls", NULL, TP_UNIT_REAL, TP_COMPUTED(effective) },
	{ "ci95_ns", "95%", TP_UNIT_INTERVAL_NS, TP_COMPUTED(interval) },
	{ "shapes", NULL, .unit = TP_UNIT_OTHER },
	{ "buckets", NULL, .unit = TP_UNIT_OTHER },
	{ "rate", "GFLOP/s", TP_UNIT_RATE, TP_COMPUTED(flop_rate), .no_json = true },
	{ .key = NULL },
};

/* The mean of all calls but the first; 0: there is no other, or they took no time. */
static uint64_t rest_of(const struct tp_shape_stats *shape)
{
	return shape->calls > 1 ? (shape->calls_ns - shape->first_ns) / (shape->calls - 1) : 0;
}

static struct tp_figure rest(const void *row, const void *context)
{
	const struct tp_shape_stats *shape = row;

	(void)context;
	return (struct tp_figure){ .unknown = shape->calls <= 1, .number = (int64_t)rest_of(shape) };
}

/* The first call, against the mean of the others: what was compiled or created for it. */
static struct tp_figure first_factor(const void *row, const void *context)
{
	const struct tp_shape_stats *shape = row;
	uint64_t mean = rest_of(shape);

	(void)context;
	return (struct tp_figure){ .none = !mean, .real = mean ? (double)shape->first_ns / (double)mean : 0 };
}

static struct tp_figure shape_rate(const void *row, const void *context)
{
	const struct tp_shape_stats *shape = row;

	(void)context;
	return rate(shape->flop, shape->total_ns);
}

const struct tp_column tp_shape_columns[] = {
	{ "shape", "shape", TP_UNIT_TEXT, SHAPE(text), .missing = "(all further shapes)" },
	{ "calls", "calls", TP_UNIT_COUNT, SHAPE(calls) },
	{ "total_ns", "total", TP_UNIT_NS, SHAPE(total_ns) },
	{ "first_ns", "first call", TP_UNIT_NS, SHAPE(first_ns) },
	{ "flop", "FLOP", TP_UNIT_FLOP, SHAPE(flop) },
	{ "rest_mean_ns", "mean", TP_UNIT_NS, TP_COMPUTED(rest) },
	{ "factor", "", TP_UNIT_FACTOR, TP_COMPUTED(first_factor), .no_json = true },
	{ "rate", "GFLOP/s", TP_UNIT_RATE, TP_COMPUTED(shape_rate), .no_json = true },
	{ .key = NULL },
};
