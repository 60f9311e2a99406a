/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "model/ops/buckets.h"
#include "report/rows/estimate.h"
#include "report/json/json.h"
#include "report/text/op_listing.h"

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *json_shape(const struct tp_shape_stats *shape)
{
	const struct tp_json_field numbers[] = {
		{ "calls", shape->calls },
		{ "total_ns", shape->total_ns },
		{ "first_ns", shape->first_ns },
		{ "flop", shape->flop },
	};
	json_t *json = json_object();

	set(json, "shape", tp_json_string(shape->text));
	TP_JSON_FIELDS(json, numbers);
	set(json, "rest_mean_ns",
	    shape->calls > 1 ? tp_json_number((shape->calls_ns - shape->first_ns) / (shape->calls - 1)) : json_null());
	return json;
}

static json_t *json_shapes(const struct tp_op_stats *op)
{
	json_t *list = json_array();

	for (size_t i = 0; i < op->shape_count; i++)
		json_array_append_new(list, json_shape(&op->shapes[i]));
	return list;
}

/* null: there are no two shapes. */
static json_t *json_buckets(const struct tp_op_stats *op)
{
	struct tp_buckets buckets;

	if (!tp_buckets_of(op, &buckets) || buckets.shapes < 2)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "shapes", (json_int_t)buckets.shapes, "buckets",
			 (json_int_t)buckets.buckets, "excess_ns", tp_json_number(tp_round(buckets.excess_ns)),
			 "saved_ns", tp_json_number(tp_round(buckets.saved_ns)), "padding_ns",
			 tp_json_number(tp_round(buckets.padding_ns)));
}

/* The op's own FLOP, by what they were done in; "unsaid": nobody said. */
static json_t *json_precisions(const struct tp_op_stats *op)
{
	json_t *json = json_object();

	for (int i = 0; i <= TP_UNSAID; i++)
		if (op->flop_in[i])
			set(json, i < TP_UNSAID ? tp_precision_names[i] : "unsaid", tp_json_number(op->flop_in[i]));
	return json;
}

static json_t *json_op(const struct tp_op_stats *op)
{
	const struct tp_json_field numbers[] = {
		{ "calls", op->calls },
		{ "unwound", op->unwound },
		{ "folded", op->folded },
		{ "untimed", op->untimed },
		{ "open", op->open },
		{ "total_overhead_ns", op->total_cost_ns },
		{ "self_overhead_ns", op->self_cost_ns },
		{ "first_ns", op->first_ns },
		{ "warmup_calls", op->warmup_calls },
		{ "warmup_ns", op->warmup_ns },
		{ "mean_ns", tp_round(op->mean_ns) },
		{ "stddev_ns", tp_round(tp_moments_deviation(&op->durations)) },
		{ "min_ns", op->min_ns },
		{ "p50_ns", op->p50_ns },
		{ "p90_ns", op->p90_ns },
		{ "p99_ns", op->p99_ns },
		{ "max_ns", op->max_ns },
		{ "flop", op->flop },
		{ "self_flop", op->self_flop },
		{ "flop_uncounted_calls", op->uncounted },
		{ "self_matrix_flop", op->self_matrix_flop },
		{ "known_calls", op->known },
		{ "no_shape_calls", op->no_shape },
		{ "no_formula_calls", op->no_formula },
		{ "bytes", op->bytes },
		{ "self_bytes", op->self_bytes },
		{ "allocated_bytes", op->allocated_bytes },
		{ "freed_bytes", op->freed_bytes },
		{ "self_allocated_bytes", op->self_allocated_bytes },
		{ "self_allocations", op->self_allocations },
		{ "self_temporary", op->self_temporary },
		{ "peak_bytes", op->peak_bytes },
	};
	json_t *json = json_object();

	set(json, "name", tp_json_string(op->name));
	set(json, "category", tp_json_string(op->category));
	TP_JSON_FIELDS(json, numbers);
	tp_json_some(json, "total_ns", op->total_ns, op->total_variance, op->untimed > 0);
	tp_json_some(json, "self_ns", op->self_ns, op->self_variance, op->self_variance > 0);
	set(json, "estimated", json_boolean(op->untimed > 0));
	set(json, "flop_in", json_precisions(op));
	set(json, "net_bytes", json_integer(op->net_bytes));
	set(json, "effective_calls",
	    op->durations.count ? json_real(tp_means_worth(op->interval, &op->durations)) : json_null());
	set(json, "ci95_ns", tp_json_interval_ns(op->interval));
	set(json, "shapes", json_shapes(op));
	set(json, "buckets", json_buckets(op));
	return json;
}

json_t *tp_work_known_json(const struct tp_process *process)
{
	const struct tp_op_counts *counts = &process->op_counts;

	return json_pack("{s:I, s:I, s:I}", "known_calls", (json_int_t)counts->known, "no_shape_calls",
			 (json_int_t)counts->no_shape, "no_formula_calls", (json_int_t)counts->no_formula);
}

json_t *tp_ops_json(const struct tp_op_list *list, uint64_t top)
{
	json_t *json = json_array();

	for (size_t i = 0; i < list->count && (!top || i < top); i++)
		json_array_append_new(json, json_op(list->ops[i]));
	return json;
}
