/* SPDX-License-Identifier: Apache-2.0 */
/* Ops: numbers, shapes, counters; the call tree, layers, and the ops to look at first. */
#include "report/json/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/ops/buckets.h"
#include "model/result/priorities.h"
#include "report/rows/call_tree.h"
#include "report/rows/op_columns.h"

static json_t *json_shapes(const struct tpa_op_stats *op)
{
	json_t *list = json_array();

	for (size_t i = 0; i < op->shape_count; i++) {
		json_t *json = json_object();

		tpa_json_columns(json, tpa_shape_columns, &op->shapes[i], NULL, NULL);
		json_array_append_new(list, json);
	}
	return list;
}

/* null if there are fewer than two shapes */
static json_t *json_buckets(const struct tpa_op_stats *op)
{
	struct tpa_buckets buckets = tpa_buckets_of(op);

	if (buckets.shapes < 2)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:o, s:o}", "shapes", (json_int_t)buckets.shapes, "buckets",
			 (json_int_t)buckets.buckets, "excess_ns", tpa_json_number(tpa_round(buckets.excess_ns)),
			 "saved_ns", tpa_json_number(tpa_round(buckets.saved_ns)), "padding_ns",
			 tpa_json_number(tpa_round(buckets.padding_ns)));
}

/* The op's own FLOP by precision; "unsaid": the precision is unknown. */
static json_t *json_precisions(const struct tpa_op_stats *op)
{
	json_t *json = json_object();

	for (int i = 0; i <= TPA_UNSAID; i++)
		if (op->flop_in[i])
			tpa_json_set(json, i < TPA_UNSAID ? tpa_precision_names[i] : "unsaid",
				     tpa_json_number(op->flop_in[i]));
	return json;
}

static json_t *other_json(const void *row, const char *key)
{
	return key[0] == 'f' ? json_precisions(row) : key[0] == 's' ? json_shapes(row) : json_buckets(row);
}

static json_t *json_op(const struct tpa_op_stats *op)
{
	json_t *json = json_object();

	tpa_json_columns(json, tpa_op_columns, op, NULL, other_json);
	return json;
}

json_t *tpa_work_known_json(const struct tpa_process *process)
{
	const struct tpa_op_counts *counts = &process->op_counts;

	return json_pack("{s:I, s:I, s:I}", "known_calls", (json_int_t)counts->known, "no_shape_calls",
			 (json_int_t)counts->no_shape, "no_formula_calls", (json_int_t)counts->no_formula);
}

json_t *tpa_ops_json(const struct tpa_op_list *list, uint64_t top)
{
	json_t *json = json_array();

	for (size_t i = 0; i < list->count && (!top || i < top); i++)
		json_array_append_new(json, json_op(list->ops[i]));
	return json;
}

/* ---- counters ---- */

static json_t *values_of(const struct tpa_trace *trace, const struct tpa_counters *counters)
{
	json_t *json = json_object();

	for (size_t i = 0; i < trace->counter_count; i++)
		if (trace->counters[i].number)
			tpa_json_set(json, trace->counters[i].name,
				     tpa_json_number(counters->value[trace->counters[i].number - 1]));
	return json;
}

void tpa_op_counters_json(const struct tpa_process *process, const struct tpa_op_list *list, json_t *ops)
{
	for (size_t i = 0; tpa_counters_counted(process->trace) && i < json_array_size(ops) && i < list->count; i++) {
		json_t *op = json_array_get(ops, i);

		tpa_json_set(op, "counters", values_of(process->trace, &list->ops[i]->counters));
		tpa_json_set(op, "self_counters", values_of(process->trace, &list->ops[i]->self_counters));
	}
}

json_t *tpa_counters_json(const struct tpa_process *process)
{
	const struct tpa_trace *trace = process->trace;
	json_t *list = trace->counter_count ? json_array() : NULL;

	for (size_t i = 0; list && i < trace->counter_count; i++) {
		const struct tpa_counter *counter = &trace->counters[i];
		json_t *json = json_object();

		tpa_json_set(json, "name", json_string(counter->name));
		tpa_json_set(json, "counted", json_boolean(counter->number != 0));
		if (counter->number) {
			tpa_json_set(json, "value", tpa_json_number(process->counters.value[counter->number - 1]));
			tpa_json_set(json, "user_only", json_boolean(counter->flags & TPROF_COUNTER_USER));
		} else {
			tpa_json_set(json, "reason", json_string(strerror(counter->error)));
		}
		json_array_append_new(list, json);
	}
	return list;
}

/* ---- the tree of calls ---- */

struct json_context {
	const struct tpa_process *process;
	json_t *list;
};

static void add_json(void *context, uint32_t number, int depth)
{
	struct json_context *to = context;
	const struct tpa_op_node *node = &to->process->op_nodes[number];
	const struct tpa_row_context row = { .process = to->process };
	json_t *json = json_pack("{s:o, s:i}", "id", tpa_json_number(number), "depth", depth);

	tpa_json_columns(json, tpa_op_node_columns, node, &row, NULL);
	json_array_append_new(to->list, json);
}

json_t *tpa_op_tree_json(const struct tpa_process *process, uint64_t top)
{
	struct json_context context = { process, json_array() };
	struct tpa_call_tree tree;

	tpa_call_tree(&tree, process, top);
	tpa_call_tree_walk(&tree, add_json, &context);
	tpa_call_tree_free(&tree);
	return context.list;
}

/* ---- layers ---- */

json_t *tpa_layers_json(const struct tpa_process *process, uint64_t top)
{
	struct tpa_layers layers;
	json_t *list = json_array();

	tpa_layers(&layers, process);
	for (size_t i = 0; i < layers.count && (!top || i < top); i++) {
		json_t *json = json_object();

		tpa_json_columns(json, tpa_layer_columns, &layers.list[i], NULL, NULL);
		json_array_append_new(list, json);
	}
	free(layers.list);
	return list;
}

/* ---- what to do first ---- */

static json_t *priority_json(const struct tpa_priority *one, json_t *roof)
{
	json_t *json = json_object();

	tpa_json_columns(json, tpa_priority_columns, one, NULL, NULL);
	tpa_json_set(json, "roof", roof);
	return json;
}

json_t *tpa_priorities_json(const struct tpa_process *process, const struct tpa_rows *peak, tpa_priority_roof *roof,
			    void *context)
{
	struct tpa_priority *list = tpa_zalloc(process->op_count + 1, sizeof(*list));
	size_t count = tpa_priorities(process, TPA_PRIORITY_SHARE, list);
	json_t *json = json_object(), *time = json_array();
	uint64_t bytes;
	size_t rows = tpa_rows_for_share(peak, TPA_PRIORITY_SHARE, &bytes);

	for (size_t i = 0; i < count; i++)
		json_array_append_new(time, priority_json(&list[i], roof ? roof(context, list[i].op) : json_null()));
	free(list);
	tpa_json_set(json, "time", time);
	tpa_json_set(json, "memory",
		     json_pack("{s:o, s:o, s:o}", "sites", tpa_json_number(rows), "bytes", tpa_json_number(bytes),
			       "largest_bytes", tpa_json_number(peak->count ? peak->bytes[0] : 0)));
	return json;
}
