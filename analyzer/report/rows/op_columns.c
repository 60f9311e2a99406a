/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rows/op_columns.h"

#include <math.h>

#include "model/result/result.h"
#include "report/rows/op_waits.h"

#define OP(member) TPA_MEMBER(struct tpa_op_stats, member)
#define SHAPE(member) TPA_MEMBER(struct tpa_shape_stats, member)

/* Begins a getter: `op` is its row. */
#define OP_GETTER(name)                                                                                                \
	static struct tpa_figure get_op_##name(const struct tpa_op_stats *op);                                         \
	static struct tpa_figure name(const void *row, const void *context)                                            \
	{                                                                                                              \
		(void)context;                                                                                         \
		return get_op_##name(row);                                                                             \
	}                                                                                                              \
	static struct tpa_figure get_op_##name(const struct tpa_op_stats *op)

static struct tpa_figure number(uint64_t number)
{
	return (struct tpa_figure){ .number = (int64_t)number };
}

/* FLOP a nanosecond is GFLOP a second. */
static struct tpa_figure rate(uint64_t flop, uint64_t ns)
{
	return (struct tpa_figure){ .none = !flop || !ns, .real = ns ? (double)flop / (double)ns : 0 };
}

OP_GETTER(total)
{
	return (struct tpa_figure){ .number = (int64_t)op->total_ns,
				    .variance = op->total_variance,
				    .unseen = op->untimed > 0 };
}

OP_GETTER(self)
{
	return (struct tpa_figure){ .number = (int64_t)op->self_ns,
				    .variance = op->self_variance,
				    .unseen = op->self_variance > 0 };
}

OP_GETTER(own)
{
	struct tpa_figure value = get_op_self(op);

	value.number += (int64_t)op->own_part_ns;
	return value;
}

OP_GETTER(own_allocated)
{
	return number(op->self_allocated_bytes + op->parts_allocated_bytes);
}

OP_GETTER(threads_wait)
{
	return (struct tpa_figure){ .unknown = !op->has_threads, .number = (int64_t)op->threads_wait_ns };
}

OP_GETTER(not_running)
{
	struct tpa_interval interval;
	uint64_t ns = 0;
	bool known = tpa_op_not_running(op, &ns, &interval);

	return (struct tpa_figure){ .unknown = !known, .number = (int64_t)ns };
}

OP_GETTER(not_running_interval)
{
	struct tpa_interval interval = { 0, 0 };
	uint64_t ns;
	bool known = tpa_op_not_running(op, &ns, &interval);

	return (struct tpa_figure){ .unknown = !known, .interval = interval };
}

OP_GETTER(spinning)
{
	return (struct tpa_figure){ .unknown = !op->cpu_period_ns,
				    .number = (int64_t)(op->spinning.periods * op->cpu_period_ns) };
}

OP_GETTER(spinning_interval)
{
	struct tpa_interval interval = tpa_op_cpu_interval(op, &op->spinning);

	return (struct tpa_figure){ .unknown = !op->cpu_period_ns, .interval = interval };
}

OP_GETTER(estimated)
{
	return number(op->untimed > 0);
}

OP_GETTER(warmup)
{
	return (struct tpa_figure){ .none = !op->warmup_calls, .number = (int64_t)op->warmup_ns };
}

OP_GETTER(deviation)
{
	return number(tpa_round(tpa_moments_deviation(&op->durations)));
}

OP_GETTER(flop)
{
	return (struct tpa_figure){ .number = (int64_t)op->flop, .none = !op->flop, .least = op->uncounted > 0 };
}

OP_GETTER(flop_rate)
{
	struct tpa_figure value = rate(op->flop, op->total_ns);

	value.least = op->uncounted > 0;
	return value;
}

OP_GETTER(moved)
{
	return (struct tpa_figure){ .number = (int64_t)op->bytes, .none = !op->bytes && !op->known };
}

OP_GETTER(effective)
{
	return (struct tpa_figure){ .real = op->durations.count ? tpa_means_worth(op->interval, &op->durations) : NAN };
}

OP_GETTER(interval)
{
	return (struct tpa_figure){ .interval = op->interval, .unknown = isnan(op->interval.low) };
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
	{ "warmup_ns", "warm-up", TPA_UNIT_NS, TPA_COMPUTED(warmup) },
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
	{ "peak_bytes", "peak of a call", TPA_UNIT_BYTES, OP(peak_bytes) },
	{ "total_ns", "total", TPA_UNIT_NS, TPA_COMPUTED(total) },
	{ "self_ns", "self", TPA_UNIT_NS, TPA_COMPUTED(self) },
	{ "own_ns", "self", TPA_UNIT_NS, TPA_COMPUTED(own), .no_json = true },
	{ "own_allocated_bytes", "itself", TPA_UNIT_BYTES, TPA_COMPUTED(own_allocated), .no_json = true },
	{ "threads_wait_ns", "waiting", TPA_UNIT_NS, TPA_COMPUTED(threads_wait) },
	{ "not_running_ns", NULL, TPA_UNIT_NS, TPA_COMPUTED(not_running) },
	{ "not_running_ns_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(not_running_interval) },
	{ "spinning_ns", NULL, TPA_UNIT_NS, TPA_COMPUTED(spinning) },
	{ "spinning_ns_ci95", NULL, TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(spinning_interval) },
	{ "estimated", NULL, TPA_UNIT_BOOL, TPA_COMPUTED(estimated) },
	{ "flop_in", NULL, .unit = TPA_UNIT_OTHER },
	{ "net_bytes", "net", TPA_UNIT_NET_BYTES, OP(net_bytes) },
	{ "effective_calls", NULL, TPA_UNIT_REAL, TPA_COMPUTED(effective) },
	{ "ci95_ns", "95%", TPA_UNIT_INTERVAL_NS, TPA_COMPUTED(interval) },
	{ "shapes", NULL, .unit = TPA_UNIT_OTHER },
	{ "buckets", NULL, .unit = TPA_UNIT_OTHER },
	{ "rate", "GFLOP/s", TPA_UNIT_RATE, TPA_COMPUTED(flop_rate), .no_json = true },
	{ .key = NULL },
};

/* The mean of all calls but the first; 0: there is no other, or they took no time. */
static uint64_t rest_of(const struct tpa_shape_stats *shape)
{
	return shape->calls > 1 ? (shape->calls_ns - shape->first_ns) / (shape->calls - 1) : 0;
}

static struct tpa_figure rest(const void *row, const void *context)
{
	const struct tpa_shape_stats *shape = row;

	(void)context;
	return (struct tpa_figure){ .unknown = shape->calls <= 1, .number = (int64_t)rest_of(shape) };
}

/* The first call, against the mean of the others: what was compiled or created for it. */
static struct tpa_figure first_factor(const void *row, const void *context)
{
	const struct tpa_shape_stats *shape = row;
	uint64_t mean = rest_of(shape);

	(void)context;
	return (struct tpa_figure){ .none = !mean, .real = mean ? (double)shape->first_ns / (double)mean : 0 };
}

static struct tpa_figure shape_rate(const void *row, const void *context)
{
	const struct tpa_shape_stats *shape = row;

	(void)context;
	return rate(shape->flop, shape->total_ns);
}

const struct tpa_column tpa_shape_columns[] = {
	{ "shape", "shape", TPA_UNIT_TEXT, SHAPE(text), .missing = "(all further shapes)" },
	{ "calls", "calls", TPA_UNIT_COUNT, SHAPE(calls) },
	{ "total_ns", "total", TPA_UNIT_NS, SHAPE(total_ns) },
	{ "first_ns", "first call", TPA_UNIT_NS, SHAPE(first_ns) },
	{ "flop", "FLOP", TPA_UNIT_FLOP, SHAPE(flop) },
	{ "rest_mean_ns", "mean", TPA_UNIT_NS, TPA_COMPUTED(rest) },
	{ "factor", "", TPA_UNIT_FACTOR, TPA_COMPUTED(first_factor), .no_json = true },
	{ "rate", "GFLOP/s", TPA_UNIT_RATE, TPA_COMPUTED(shape_rate), .no_json = true },
	{ .key = NULL },
};
