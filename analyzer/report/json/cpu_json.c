/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/json.h"
#include "report/json/json_stack.h"

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static void set_thread(json_t *json, const struct tp_process *process, uint32_t number)
{
	set(json, "thread", tp_json_number(number));
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].thread == number) {
			set(json, "name", tp_json_string(process->threads[i].name));
			set(json, "tid", tp_json_number(process->threads[i].tid));
		}
}

static void set_name(json_t *json, const struct tp_cpu_listing *context, const struct tp_cpu_row *row)
{
	enum tp_by by = context->options.relation ? TP_BY_FUNCTION : context->options.by;
	const struct tp_process *process = &context->run->processes[row->process];
	json_int_t own;

	if (by == TP_BY_THREAD) {
		set_thread(json, process, row->thread);
		return;
	}
	if (by == TP_BY_OP) {
		set(json, "op", tp_json_string(row->op));
		return;
	}
	tp_json_line(json, &row->line, by);
	if (by == TP_BY_STACK)
		set(json, "stack",
		    tp_json_stack(process->trace, context->symbols[row->process], row->node, NULL, &own));
}

static json_t *json_row(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows,
			const struct tp_cpu_row *row)
{
	json_t *json = json_object();

	set_name(json, context, row);
	if (!context->options.relation) {
		set(json, "self_samples", tp_json_number(row->self.samples));
		set(json, "self_ns", tp_json_number(row->self_ns));
		set(json, "self_share", json_real(tp_cpu_share(rows, &row->self)));
		set(json, "self_share_ci95", tp_json_interval(tp_cpu_interval(rows, &row->self)));
	}
	set(json, "total_samples", tp_json_number(row->total.samples));
	set(json, "total_ns", tp_json_number(row->total_ns));
	set(json, "total_share", json_real(tp_cpu_share(rows, &row->total)));
	set(json, "total_share_ci95", tp_json_interval(tp_cpu_interval(rows, &row->total)));
	return json;
}

json_t *tp_cpu_json(const struct tp_cpu_listing *context, const struct tp_cpu_rows *rows)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->count && (!context->top || i < context->top); i++)
		json_array_append_new(list, json_row(context, rows, &rows->rows[i]));
	return list;
}
